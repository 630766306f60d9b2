// The loops of a chain: both contractions of a band, one after the other.
#include <utility>

#include "compiler/lower/lower_loops.h"
#include "compiler/support/status.h"
#include "compiler/targets/cpu/chain.h"

namespace aotc {

absl::StatusOr<LoopFunction> ApplyChain(const Chain& c, const Schedule& schedule, int lanes) {
  AOTC_ASSIGN_OR_RETURN(const ChainTiling tiling, ChainTilingOf(c, schedule, lanes));
  AOTC_RETURN_IF_ERROR(BandOf(c, tiling.rows).status());
  const ChainBand& band = *BandOf(c, tiling.rows);
  LoopFunction function = StartFunction(c.kernel, band.second.nest);
  LoopBuffer& between = function.buffers[c.anchor.between];
  between.written = true;
  between.elements = band.elements;
  PlaceInScratch(between, function);
  const NestBand& rows = band.of_second;
  function.tasks = CountOf(rows.tasks);
  std::vector<Stmt> body = DecodeAxes(rows.tasks, Var("task"));
  if (rows.count.IsVar()) {
    body.push_back(Let(rows.count->name, Min(Expr(rows.most), rows.all - rows.first)));
  }
  AOTC_ASSIGN_OR_RETURN(const std::vector<Stmt> first,
                        ContractBand(band.first, tiling.first, lanes, band.of_first));
  AOTC_ASSIGN_OR_RETURN(const std::vector<Stmt> second,
                        ContractBand(band.second, tiling.second, lanes, band.of_second));
  body.insert(body.end(), first.begin(), first.end());
  body.insert(body.end(), second.begin(), second.end());
  function.body = Block(std::move(body));
  return function;
}

}  // namespace aotc
