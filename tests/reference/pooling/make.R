# Values of tests/measures/test_pooling.py, by metafor and lme4 (versions in metafor.csv). Run in this folder:
#     Rscript make.R
# studies.csv: AuditC (Kriston et al. 2008) and Dementia (Mitchell 2009) as mada ships them; Glas 2003
# (FDG-PET), with zero cells in four of nine studies. mada 0.5.11 and its reitsma(): mada.csv, made by
# r_reference_driver.R of omicverse/socialverse, not here.
suppressMessages({library(metafor); library(lme4)})

studies <- read.csv("studies.csv")
rows <- list()
keep <- function(data, method, name, value) {
  rows[[length(rows) + 1]] <<- data.frame(data = data, method = method, name = name,
                                          value = format(value, digits = 15))
}

fitted <- function(data, TP, FN, FP, TN, correction) {
  zero <- TP == 0 | FN == 0 | FP == 0 | TN == 0
  add <- switch(correction, all = rep(any(zero), length(TP)), single = zero) * 0.5
  TP <- TP + add; FN <- FN + add; FP <- FP + add; TN <- TN + add
  k <- length(TP)
  long <- data.frame(study = rep(seq_len(k), each = 2), group = factor(rep(c("sens", "fpr"), k), c("sens", "fpr")),
                     yi = as.vector(rbind(log(TP / FN), log(FP / TN))),
                     vi = as.vector(rbind(1 / TP + 1 / FN, 1 / FP + 1 / TN)))
  # the defaults stop early where the correlation is at its end
  rma.mv(yi, vi, mods = ~ group - 1, random = ~ group | study, struct = "UN", data = long,
         method = "REML", control = list(optimizer = "bobyqa", rhoend = 1e-10, maxfun = 1e5))
}

for (data in unique(studies$data)) {
  d <- studies[studies$data == data, ]
  for (correction in c("all", "single")) {
    f <- with(d, fitted(data, TP, FN, FP, TN, correction))
    if (data == "AuditC6") {  # profile limits
      for (which in 1:2) {
        limits <- confint(f, tau2 = which)$random[1, 2:3]
        keep(data, paste0("rma.mv_", correction), paste0("tau2_low_", which), limits[1])
        keep(data, paste0("rma.mv_", correction), paste0("tau2_high_", which), limits[2])
      }
      limits <- confint(f, rho = 1)$random[1, 2:3]
      keep(data, paste0("rma.mv_", correction), "rho_low", limits[1])
      keep(data, paste0("rma.mv_", correction), "rho_high", limits[2])
    }
    m <- paste0("rma.mv_", correction)
    keep(data, m, "logit_sensitivity", f$beta[1]); keep(data, m, "logit_fpr", f$beta[2])
    keep(data, m, "var_sensitivity", f$vb[1, 1]); keep(data, m, "var_fpr", f$vb[2, 2])
    keep(data, m, "covariance", f$vb[1, 2])
    keep(data, m, "tau2_sensitivity", f$tau2[1]); keep(data, m, "tau2_fpr", f$tau2[2])
    keep(data, m, "correlation", f$rho); keep(data, m, "log_likelihood", as.numeric(logLik(f)))
  }
  for (which in c("sensitivity", "specificity")) {
    e <- if (which == "sensitivity") d$TP else d$TN
    n <- if (which == "sensitivity") d$TP + d$FN else d$TN + d$FP
    zero <- with(d, TP == 0 | FN == 0 | FP == 0 | TN == 0)
    add <- any(zero) * 0.5
    u <- rma(yi = log((e + add) / (n - e + add)), vi = 1 / (e + add) + 1 / (n - e + add), method = "REML",
             control = list(threshold = 1e-12, maxiter = 10000))
    keep(data, "rma", paste0("q_", which), u$QE); keep(data, "rma", paste0("logit_", which), as.numeric(u$beta))
    keep(data, "rma", paste0("tau2_", which), u$tau2); keep(data, "rma", paste0("se_", which), u$se)
  }
  long <- data.frame(study = rep(seq_len(nrow(d)), each = 2), sens = c(1, 0), spec = c(0, 1),
                     x = as.vector(rbind(d$TP, d$TN)), n = as.vector(rbind(d$TP + d$FN, d$TN + d$FP)))
  g <- glmer(cbind(x, n - x) ~ 0 + sens + spec + (0 + sens + spec | study), data = long, family = binomial,
             control = glmerControl(optimizer = "bobyqa", optCtrl = list(maxfun = 1e5)))
  keep(data, "glmer", "logit_sensitivity", fixef(g)[1]); keep(data, "glmer", "logit_specificity", fixef(g)[2])
}
version <- paste("R", getRversion(), "metafor", packageVersion("metafor"), "lme4", packageVersion("lme4"))
out <- do.call(rbind, rows); out$version <- version
write.csv(out, "metafor.csv", row.names = FALSE, quote = FALSE)
