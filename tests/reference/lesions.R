# Localisation, from the definitions alone: R, double loops over cases and lesions, no package.
#
#   Rscript tests/reference/lesions.R
#
# Reads lesions.csv (every lesion and mark of a drawn study: 2 arms, 4 readers, 24 cases) and writes
# lesions_expected.csv: areas (Chakraborty 2017, Observer Performance Methods for Diagnostic Imaging, chapter 14),
# their jackknife covariances over cases, and the analysis of Obuchowski and Rockette (1995) with the degrees of
# freedom of Hillis (2007). With the argument "draw" it draws the study first.

folder <- dirname(sub("--file=", "", grep("--file=", commandArgs(FALSE), value = TRUE)))
data_file <- file.path(folder, "lesions.csv")

if ("draw" %in% commandArgs(TRUE)) {
  set.seed(20261123)
  rows <- NULL
  lesions <- c(rep(0, 12), sample(1:3, 12, replace = TRUE))
  for (case in 1:24) {
    weight <- if (lesions[case]) runif(lesions[case]) else numeric(0)
    weight <- round(weight / sum(weight), 3)
    if (length(weight)) weight[1] <- 1 - sum(weight[-1])
    for (l in seq_along(weight)) rows <- rbind(rows, data.frame(kind = "lesion", arm = "", reader = "",
      case = case, lesion = l, weight = weight[l], rating = NA))
  }
  truth <- rows
  for (arm in 1:2) for (reader in 1:4) {
    for (i in seq_len(nrow(truth))) if (runif(1) < 0.8) rows <- rbind(rows, data.frame(kind = "mark",
      arm = c("unaided", "aided")[arm], reader = paste0("R", reader), case = truth$case[i], lesion = truth$lesion[i],
      weight = NA, rating = round(rnorm(1, 2.5 + 0.4 * arm + 0.15 * reader), 1)))
    for (case in 1:24) for (k in seq_len(rpois(1, 0.9))) rows <- rbind(rows, data.frame(kind = "mark",
      arm = c("unaided", "aided")[arm], reader = paste0("R", reader), case = case, lesion = 0,
      weight = NA, rating = round(rnorm(1, 2), 1)))
  }
  write.csv(rows, data_file, row.names = FALSE, na = "", quote = FALSE)
}

every <- read.csv(data_file, stringsAsFactors = FALSE)
truth <- every[every$kind == "lesion", ]
marks <- every[every$kind == "mark", ]
psi <- function(x, y) if (x > y) 1 else if (x == y) 0.5 else 0
top <- function(x) if (length(x)) max(x) else -Inf

value <- function(own, cases, of) {
  none <- setdiff(cases, truth$case)
  with <- intersect(cases, truth$case)
  false <- function(k) top(own$rating[own$case == k & own$lesion == 0])
  found <- function(k, l) top(own$rating[own$case == k & own$lesion == l])
  if (of == "false_marks_per_case") return(sum(own$case %in% cases & own$lesion == 0) / length(cases))
  lesions <- truth[truth$case %in% with, ]
  if (of == "lesion_sensitivity") {
    hit <- 0
    for (i in seq_len(nrow(lesions))) hit <- hit + (found(lesions$case[i], lesions$lesion[i]) > -Inf)
    return(hit / nrow(lesions))
  }
  total <- 0
  for (k1 in none) for (k2 in with) {
    if (of == "inferred_roc_auc") {
      total <- total + psi(top(own$rating[own$case == k2]), false(k1))
    } else for (i in which(lesions$case == k2)) {
      weight <- if (of == "wafroc_auc") lesions$weight[i] else 1
      total <- total + weight * psi(found(k2, lesions$lesion[i]), false(k1))
    }
  }
  total / length(none) / (if (of == "afroc_auc") nrow(lesions) else length(with))
}

arms <- c("aided", "unaided")
readers <- unique(marks$reader)
cases <- 1:24
out <- NULL
note <- function(of, name, arm, reader, x) out <<- rbind(out, data.frame(measure = of, name = name, arm = arm,
  reader = reader, value = sprintf("%.10f", x)))

for (of in c("wafroc_auc", "afroc_auc", "inferred_roc_auc", "lesion_sensitivity", "false_marks_per_case")) {
  own <- function(a, j) marks[marks$arm == arms[a] & marks$reader == readers[j], ]
  theta <- matrix(NA, 2, length(readers))
  left <- array(NA, c(2, length(readers), length(cases)))
  for (a in 1:2) for (j in seq_along(readers)) {
    theta[a, j] <- value(own(a, j), cases, of)
    note(of, "value", arms[a], readers[j], theta[a, j])
    for (k in cases) left[a, j, k] <- value(own(a, j), setdiff(cases, k), of)
  }
  covariance <- function(a, j, b, i) {
    x <- left[a, j, ] - mean(left[a, j, ]); y <- left[b, i, ] - mean(left[b, i, ])
    (length(cases) - 1) / length(cases) * sum(x * y)
  }
  r <- length(readers); var <- cov1 <- cov2 <- cov3 <- c()
  for (j in 1:r) {
    var <- c(var, covariance(1, j, 1, j), covariance(2, j, 2, j)); cov1 <- c(cov1, covariance(1, j, 2, j))
    for (i in setdiff(1:r, j)) {
      cov2 <- c(cov2, covariance(1, j, 1, i), covariance(2, j, 2, i)); cov3 <- c(cov3, covariance(1, j, 2, i))
    }
  }
  parts <- c(var = mean(var), cov1 = mean(cov1), cov2 = mean(cov2), cov3 = mean(cov3))
  for (n in names(parts)) note(of, n, "", "", parts[[n]])
  fit <- theta - rowMeans(theta) - rep(colMeans(theta), each = 2) + mean(theta)
  between <- sum(fit^2) / (r - 1)
  error <- between + r * max(parts["cov2"] - parts["cov3"], 0)
  df <- error^2 / (between^2 / (r - 1))
  d <- mean(theta[1, ]) - mean(theta[2, ])
  half <- qt(0.975, df) * sqrt(2 * error / r)
  for (n in c("difference", "low", "high", "df")) note(of, n, "", "", c(difference = d, low = d - half,
    high = d + half, df = df)[[n]])
}
out$source <- R.version.string
write.csv(out, file.path(folder, "lesions_expected.csv"), row.names = FALSE, quote = FALSE)
