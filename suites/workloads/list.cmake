# The workloads, in the order in which people read them: NAME, or NAME:SIZES where widths follow the
# name. Each has a descriptor, in suites/workloads/descriptors.c or gpt.c, and, unless it is a chain of
# linear layers, a reference, harness/verify/NAME.c. The last ones are sizes that have a name.
set(LOCKSTEP_WORKLOADS tutorial mlp:SIZES blocks mixed cnn rnn lstm capsnet resnet gpt:SIZES)
string(REGEX REPLACE ":[^;]*" "" LOCKSTEP_WORKLOAD_NAMES "${LOCKSTEP_WORKLOADS}")
list(APPEND LOCKSTEP_WORKLOADS gpt-tiny gpt-small gpt2)
