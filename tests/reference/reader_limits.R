# Make reader_limits.csv: limits of agreement of several readers, from mean squares by R's aov.
#
#     apt-get install r-base-core
#     Rscript tests/reference/reader_limits.R tests/reference > tests/reference/reader_limits.csv
#
# observers.csv: 18 observers (columns) measured 50 aortas (rows) once. Limits of agreement with the mean are those
# of Christensen et al. (2020), BMC Med. Res. Methodol. 20, 304, with their limits for normal values. Limits between
# two readers, and between two arms, are those that iMRMC takes from analyses of variance of two and three ways (Wen
# and Gallas, arXiv 2107.08891); there the first six observers are one arm and the next six the other, by place.
# iMRMC itself could not be installed: a transcription of its uStat11.jointD, with the steps of laWRBM and laBRBM, gave
# the same variances to 13 digits.
folder <- commandArgs(TRUE)[1]
wide <- as.matrix(read.csv(file.path(folder, "observers.csv"), header = FALSE))
long <- function(x) data.frame(value = c(x), case = factor(c(row(x))), reader = factor(c(col(x))))
squares <- function(formula, data) summary(aov(formula, data))[[1]]
row_ <- function(name, value, low = NA, high = NA)
  cat(name, format(value, digits = 15), format(low, digits = 15), format(high, digits = 15), sep = ",", fill = TRUE)
cat("name,value,low,high\n")
cat(sprintf("# %s\n", R.version.string))

of <- squares(value ~ reader + case, long(wide))
ss <- of[["Sum Sq"]][c(1, 3)]; df <- of[["Df"]][c(1, 3)]; n <- length(wide)
below <- sqrt(sum(((1 - df / qchisq(0.975, df)) * ss)^2))
above <- sqrt(sum(((df / qchisq(0.025, df) - 1) * ss)^2))
row_("with_the_mean", qnorm(0.975) * sqrt(sum(ss) / n), qnorm(0.975) * sqrt((sum(ss) - below) / n),
     qnorm(0.975) * sqrt((sum(ss) + above) / n))

a <- wide[, 1:6]; b <- wide[, 7:12]; J <- 6; K <- nrow(wide)
ms <- squares(value ~ reader + case, long(a))[["Mean Sq"]]
row_("between_readers_variance", 2 * ((ms[1] - ms[3]) / K + ms[3]))

ms <- squares(value ~ reader + case, long(b - a))[["Mean Sq"]]
row_("within_reader_mean", mean(b - a))
row_("within_reader_variance", (J * ms[1] + K * ms[2] + (J * K - J - K) * ms[3]) / (J * K))

both <- rbind(cbind(long(a), arm = "a"), cbind(long(b), arm = "b"))
ms <- squares(value ~ reader + case + arm + reader:case + reader:arm + case:arm, both)[["Mean Sq"]]
names(ms) <- c("R", "C", "M", "RC", "RM", "CM", "e")
parts <- c((ms["R"] + ms["e"] - ms["RC"] - ms["RM"]) / (2 * K), (ms["RC"] - ms["e"]) / 2,
           (ms["RM"] - ms["e"]) / K, (ms["CM"] - ms["e"]) / J, ms["e"])
row_("between_arms_variance", 2 * sum(parts))
