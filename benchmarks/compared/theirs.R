# The R side: reads one command a line, answers on standard output; CPU seconds are taken here.
#   open NAME FOLDER           get ready, first call: its outputs go to FOLDER, its seconds here
#   time NUMBER                seconds of a call, mean of so many
#   version PACKAGE            R's and the package's
# Inputs are FOLDER/NAME.bin, doubles by columns, with their shape in FOLDER/NAME.shape.

options(digits = 17, warn = -1)

input <- function(folder, name) {
  shape <- as.integer(strsplit(readLines(file.path(folder, paste0(name, ".shape"))), " ")[[1]])
  values <- readBin(file.path(folder, paste0(name, ".bin")), "double", prod(shape))
  if (length(shape) > 1) array(values, shape) else values
}

proc_area <- function(folder) {
  truth <- input(folder, "truth")
  score <- input(folder, "score")
  function() {
    curve <- pROC::roc(truth, score, levels = c(0, 1), direction = "<", quiet = TRUE)
    c(auc = as.numeric(pROC::auc(curve)), variance = pROC::var(curve, method = "delong"))
  }
}

energy_test <- function(folder) {
  training <- input(folder, "training")
  external <- input(folder, "external")
  function() {
    set.seed(1)
    found <- energy::eqdist.etest(
      rbind(training, external), c(nrow(training), nrow(external)), R = 199
    )
    c(statistic = unname(found$statistic), p = found$p.value)
  }
}

seconds <- function(call, number) {
  start <- sum(proc.time()[1:2])
  for (i in seq_len(number)) found <- call()
  list(seconds = (sum(proc.time()[1:2]) - start) / number, found = found)
}

said <- file("stdin", "r")
call <- NULL
while (length(line <- readLines(said, 1)) > 0) {
  words <- strsplit(line, "\t")[[1]]
  answer <- tryCatch(
    switch(words[1],
      open = {
        call <- get(words[2])(words[3])
        first <- seconds(call, 1)
        writeLines(
          sprintf("%s %.17g", names(first$found), first$found),
          file.path(words[3], paste0(words[2], ".txt"))
        )
        sprintf("%.9f", first$seconds)
      },
      time = sprintf("%.9f", seconds(call, as.integer(words[2]))$seconds),
      version = paste0(packageVersion(words[2]), " (R ", getRversion(), ")")
    ),
    error = function(e) paste("error", gsub("\n", " ", conditionMessage(e)))
  )
  cat(answer, "\n", sep = "")
  flush(stdout())
}
