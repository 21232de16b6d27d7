# Make reader_quarters.csv: what the readers gained who began lowest and highest, in base R from the definition.
#
#     Rscript tests/reference/reader_quarters.R > tests/reference/reader_quarters.csv
#
# 12 readers by 60 cases, right or wrong in two arms, made here without randomness; the limits are percentiles of
# 20,000 draws of readers and of cases within each truth, the quarter chosen anew in each.
readers <- 12
cases <- 60
right <- function(arm) {
  outer(0:(readers - 1), 0:(cases - 1), function(j, k) {
    ((31 * k + 17 * j + 7 * j * k) %% 101) / 101 < 0.55 + 0.03 * j * (1 - 0.5 * arm) + 0.12 * arm
  }) * 1
}
unaided <- right(0)
aided <- right(1)
truth <- (0:(cases - 1)) %% 3 == 0
gains <- function(rows, columns) {
  before <- rowMeans(unaided[rows, columns])
  change <- rowMeans(aided[rows, columns]) - before
  of <- function(place) {
    size <- readers %/% 4
    bound <- sort(place)[size]
    inside <- place < bound - 1e-12
    tied <- abs(place - bound) <= 1e-12
    (sum(change[inside]) + (size - sum(inside)) * mean(change[tied])) / size
  }
  c(lowest = of(before), highest = of(-before))
}
value <- gains(1:readers, 1:cases)
set.seed(1)
again <- function(x) x[sample.int(length(x), replace = TRUE)]
draws <- replicate(20000, gains(again(1:readers), c(again(which(truth)), again(which(!truth)))))
limits <- apply(draws, 1, quantile, c(0.025, 0.975))
cat("quarter,value,low,high\n")
for (name in names(value)) {
  cat(sprintf("%s,%.12f,%.4f,%.4f\n", name, value[[name]], limits[1, name], limits[2, name]))
}
cat(sprintf("# %s; written by tests/reference/reader_quarters.R\n", R.version.string))
