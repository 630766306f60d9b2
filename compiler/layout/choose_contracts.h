// Which contract each anchor has and in which form each value lies, for the whole graph at least
// cost.
//
//   const AnchorFacts facts(graph);
//   const ContractChoice choice = ChooseContracts(graph, facts, options);
//   choice.forms[value]            // blocks of 16
//   choice.contracts.at(&node)     // winograd(4), 16 -> 16
//
// A value may lie as a contract of its anchor writes it, or as an operand of an op that keeps its
// channels. It costs seconds: what contracts say, and copies between forms, by their bytes: where
// an anchor reads another form than its operand has, where an op writes another than it reads, and
// where inputs and outputs of graph and regions are row-major. What a Concat joins and what slices
// cut between blocks costs nothing, as it can lie in place; within blocks it cannot stay in blocks.
// Least cost is exact where least_cost.h says so.
#ifndef AOTC_COMPILER_LAYOUT_CHOOSE_CONTRACTS_H_
#define AOTC_COMPILER_LAYOUT_CHOOSE_CONTRACTS_H_

#include <cstdint>
#include <map>

#include "compiler/ir/contract.h"
#include "compiler/ir/graph.h"
#include "compiler/layout/node_facts.h"

namespace aotc {

struct ContractOptions {
  TargetContracts target = {};
  int64_t least_channels = 8;  // operands of fewer channels stay row-major
  int64_t winograd_m = -1;     // as the key winograd.m has it
};

struct ContractChoice {
  IdVector<ValueId, ValueForm> forms = {};
  std::map<const Node*, Contract> contracts = {};
};

ContractChoice ChooseContracts(const Graph& graph, const AnchorFacts& facts,
                               const ContractOptions& options);

}  // namespace aotc

#endif  // AOTC_COMPILER_LAYOUT_CHOOSE_CONTRACTS_H_
