// The rules of differentiation (gradient.h) that stand in files of their own, gradient_<family>.cc.
#ifndef AOTC_COMPILER_OPS_GRADIENT_RULES_H_
#define AOTC_COMPILER_OPS_GRADIENT_RULES_H_

#include "absl/status/status.h"

namespace aotc {

class GradientContext;

// Of arithmetic (gradient_arithmetic.cc).
absl::Status GradientOfAdd(GradientContext& c);
absl::Status GradientOfDiv(GradientContext& c);
absl::Status GradientOfExtreme(GradientContext& c);  // Max, Min: equal operands share it
absl::Status GradientOfMean(GradientContext& c);
absl::Status GradientOfMul(GradientContext& c);
absl::Status GradientOfPow(GradientContext& c);
absl::Status GradientOfSub(GradientContext& c);
absl::Status GradientOfSum(GradientContext& c);
absl::Status GradientOfCast(GradientContext& c);
absl::Status GradientOfCastLike(GradientContext& c);
absl::Status GradientOfClip(GradientContext& c);
absl::Status GradientOfWhere(GradientContext& c);

// Of activations (gradient_activation.cc).
absl::Status GradientOfCelu(GradientContext& c);
absl::Status GradientOfElu(GradientContext& c);
absl::Status GradientOfGelu(GradientContext& c);
absl::Status GradientOfHardSigmoid(GradientContext& c);
absl::Status GradientOfHardSwish(GradientContext& c);
absl::Status GradientOfLeakyRelu(GradientContext& c);
absl::Status GradientOfMish(GradientContext& c);
absl::Status GradientOfPRelu(GradientContext& c);
absl::Status GradientOfRelu(GradientContext& c);
absl::Status GradientOfSelu(GradientContext& c);
absl::Status GradientOfShrink(GradientContext& c);
absl::Status GradientOfSoftplus(GradientContext& c);
absl::Status GradientOfSoftsign(GradientContext& c);
absl::Status GradientOfSwish(GradientContext& c);
absl::Status GradientOfThresholdedRelu(GradientContext& c);

// Of reductions and what is made of them (gradient_reduce.cc).
absl::Status GradientOfCumSum(GradientContext& c);
absl::Status GradientOfGlobalAveragePool(GradientContext& c);
absl::Status GradientOfLogSoftmax(GradientContext& c);
absl::Status GradientOfReduceExtreme(GradientContext& c);
absl::Status GradientOfReduceL1(GradientContext& c);
absl::Status GradientOfReduceL2(GradientContext& c);
absl::Status GradientOfReduceLogSum(GradientContext& c);
absl::Status GradientOfReduceLogSumExp(GradientContext& c);
absl::Status GradientOfReduceMean(GradientContext& c);
absl::Status GradientOfReduceSum(GradientContext& c);
absl::Status GradientOfReduceSumSquare(GradientContext& c);
absl::Status GradientOfSoftmax(GradientContext& c);

// Of normalisations (gradient_norm.cc).
absl::Status GradientOfBatchNormalization(GradientContext& c);
absl::Status GradientOfDropout(GradientContext& c);
absl::Status GradientOfLayerNormalization(GradientContext& c);

// Of moved elements (gradient_shape.cc).
absl::Status GradientOfConcat(GradientContext& c);
absl::Status GradientOfExpand(GradientContext& c);
absl::Status GradientOfGather(GradientContext& c);
absl::Status GradientOfGatherElements(GradientContext& c);
absl::Status GradientOfGatherNd(GradientContext& c);
absl::Status GradientOfIdentity(GradientContext& c);
absl::Status GradientOfPad(GradientContext& c);
absl::Status GradientOfReshape(GradientContext& c);  // of all ops that keep the order of elements
absl::Status GradientOfSlice(GradientContext& c);
absl::Status GradientOfSplit(GradientContext& c);
absl::Status GradientOfTranspose(GradientContext& c);
absl::Status GradientOfTrilu(GradientContext& c);

// Of sums of products (gradient_products.cc, gradient_conv.cc).
absl::Status GradientOfConv(GradientContext& c);
absl::Status GradientOfGemm(GradientContext& c);
absl::Status GradientOfMatMul(GradientContext& c);

}  // namespace aotc

#endif  // AOTC_COMPILER_OPS_GRADIENT_RULES_H_
