# Expected values by survival, riskRegression and prodlim.
#
#     Rscript expected.R > expected_r.csv
suppressMessages({library(survival); library(riskRegression); library(prodlim)})
version <- function(p) paste(p, packageVersion(p))
row <- function(data, horizon, quantity, value, se, by)
    cat(data, horizon, quantity, format(value, digits = 12), if (is.na(se)) "" else format(se, digits = 8), version(by), sep = ",", fill = 1e4)
cat("data,horizon,quantity,value,se,software\n")

score <- function(name, d, horizon) {
    s <- Score(list(m = matrix(d$risk)), Hist(follow_up, event) ~ 1, d, times = horizon, cause = 1, metrics = c("auc", "brier"),
               summary = "ipa", se.fit = TRUE, conf.int = TRUE, cens.method = "ipcw", cens.model = "km",
               conservative = FALSE, null.model = TRUE)
    a <- as.data.frame(s$AUC$score)
    row(name, horizon, "auc", a$AUC, a$se, "riskRegression")
    b <- as.data.frame(s$Brier$score)
    row(name, horizon, "brier", b$Brier[b$model == "m"], b$se[b$model == "m"], "riskRegression")
    row(name, horizon, "scaled_brier", b$IPA[b$model == "m"], NA, "riskRegression")
}

f <- read.csv("flchain.csv")
for (horizon in c(1826.25, 3652.5)) {
    score("flchain", f, horizon)
    k <- summary(survfit(Surv(follow_up, event) ~ 1, f), times = horizon)
    row("flchain", horizon, "risk", 1 - k$surv, k$std.err, "survival")
    g <- prodlim(Hist(follow_up, event) ~ 1, f, reverse = TRUE)
    row("flchain", horizon, "followed", predict(g, times = horizon), NA, "prodlim")
}
k <- summary(survfit(Surv(follow_up, event) ~ 1, f[rank(f$risk) > 200.5, ]), times = 3652.5)
row("flchain", 3652.5, "risk_upper", 1 - k$surv, k$std.err, "survival")
z <- coxph(Surv(pmin(follow_up, 3652.5), event == 0 & follow_up < 3652.5) ~ rank(risk), f, ties = "breslow")
row("flchain", 3652.5, "censoring_chi2", z$score, NA, "survival")

m <- read.csv("mgus2.csv")
m2 <- m; m2$event <- factor(m$event, 0:2)
for (horizon in c(60.5, 120.5)) {
    score("mgus2", m, horizon)
    k <- summary(survfit(Surv(follow_up, event) ~ 1, m2), times = horizon)
    row("mgus2", horizon, "risk", k$pstate[2], k$std.err[2], "survival")
}
