# Two extracts of data sets of the R package survival, with predicted risks of a Cox model fitted to other cases.
#
#     Rscript data.R
#
# flchain: a half of the cases at random trains a Cox model of age, sex, kappa and lambda; 400 of the others are
# kept. Event: death. Horizon 10 years, in days.
# mgus2: the same with age, sex, haemoglobin and the monoclonal spike; event 1 plasma cell malignancy, event 2
# death before it; a cause-specific Cox model for each, the risk by Aalen and Johansen. Horizon 10 years, in months.
library(survival)
library(riskRegression)
set.seed(20261123)

d <- flchain[flchain$futime > 0, c("age", "sex", "kappa", "lambda", "futime", "death")]
half <- sample(nrow(d)) <= nrow(d) / 2
fit <- coxph(Surv(futime, death) ~ age + sex + log(kappa) + log(lambda), d[half, ], x = TRUE)
own <- d[!half, ][sample(sum(!half), 400), ]
own$risk <- round(as.vector(predictRisk(fit, own, times = 3652.5)), 4)
own$linear <- round(predict(fit, own, type = "lp"), 2)
write.csv(data.frame(case = seq_len(nrow(own)), follow_up = own$futime, event = own$death, risk = own$risk,
                     linear = own$linear, sex = own$sex), "flchain.csv", row.names = FALSE, quote = FALSE)

m <- na.omit(mgus2[, c("age", "sex", "hgb", "mspike", "ptime", "pstat", "futime", "death")])
m$time <- ifelse(m$pstat == 1, m$ptime, m$futime)
m$status <- ifelse(m$pstat == 1, 1, 2 * m$death)
m <- m[m$time > 0, ]
half <- sample(nrow(m)) <= nrow(m) / 2
fit <- CSC(Hist(time, status) ~ age + sex + hgb + mspike, m[half, ])
own <- m[!half, ]
own$risk <- round(as.vector(predictRisk(fit, own, times = 120.5, cause = 1)), 4)
write.csv(data.frame(case = seq_len(nrow(own)), follow_up = own$time, event = own$status, risk = own$risk),
          "mgus2.csv", row.names = FALSE, quote = FALSE)
