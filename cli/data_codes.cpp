#include "cli/data_codes.hpp"

namespace lanecast {

std::vector<CodeEntry> data_codes() {
  return {
      {"LC-COMPARE-01", "measured rows with wrong results are left out",
       "The run that measured them counted wrong elements. A time for a wrong result says nothing, so these "
       "rows "
       "are neither compared nor counted.",
       "Find out why the results are wrong before you trust the other rows: LL128 over PCIe, a GPU or a link "
       "with "
       "errors (`lanecast doctor`), a broken peer access."},
      {"LC-COMPARE-02", "measured rows are left out of a comparison",
       "They have no prediction (another size, protocol, number of ranks ...), several that fit, or cannot "
       "be "
       "predicted on the machine. The message counts them and says which keys stand in the way.",
       "Predict the calls that were measured, or let `compare --machine MACHINE` predict each row of the "
       "data. "
       "What a file does not say can be said by flags such as `--protocol ll`."},
      {"LC-COMPARE-03", "compared rows differ in more than their time",
       "The nearest prediction is for other launches (stream, graph) or for another implementation. Errors "
       "then "
       "contain that difference: a stream adds what the host takes for each launch to small sizes.",
       "Predict with the measurement's own `--launch` and `--implementation`, or let `compare --machine` do "
       "so."},
      {"LC-DATA-01", "some measured rows are left out",
       "They can be told from good ones, so that the rest is used: their results were wrong, they have no "
       "bytes, the file ends within them, or they measure what is not modelled. The warning says which, "
       "and where.",
       "Measure them again, or take them out of the file. Wrong results mean that the machine, or a forced "
       "setting such as LL128 over PCIe, corrupts data: `lanecast doctor` may say why."},
      {"LC-DATA-02", "measured data were understood in one of several ways",
       "A key that nobody reads, a run that is not complete, a setting that is said twice, or something "
       "that had to be inferred. The rows are used as the warning says.",
       "State it in the file, or by a flag (docs/measured-data.md)."}};
}

}  // namespace lanecast
