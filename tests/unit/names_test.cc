#include "compiler/support/names.h"

#include "gtest/gtest.h"

namespace aotc {
namespace {

TEST(Names, CleanIdentifiersAreLegalEverywhere) {
  EXPECT_EQ(CleanIdentifier("/layer.1/Conv:0"), "layer_1_Conv_0");
  EXPECT_EQ(CleanIdentifier("__x__y__"), "x_y");
  EXPECT_EQ(CleanIdentifier("3d"), "m3d");
  EXPECT_EQ(CleanIdentifier("float"), "float_");
  EXPECT_EQ(CleanIdentifier("threadIdx"), "threadIdx_");
  EXPECT_EQ(CleanIdentifier("aotc_load"), "aotc_load_");
  EXPECT_EQ(CleanIdentifier("AOTC_OK"), "AOTC_OK_");
  EXPECT_EQ(CleanIdentifier("linux"), "linux_");
  EXPECT_EQ(CleanIdentifier("\xc3\xa9t\xc3\xa9"), "t");
  EXPECT_EQ(CleanIdentifier("***"), "value");
  EXPECT_EQ(CleanIdentifier("", "node"), "node");
}

TEST(Names, ShortIdentifiersAreWordsFromTheEnd) {
  const std::string scopes = "a/scope/of/many/words/with/a/name/of/its/own;";
  EXPECT_EQ(ShortIdentifier("/layer.1/Conv:0"), "layer_1_Conv_0");
  EXPECT_EQ(ShortIdentifier(scopes + "Call/dense/MatMul"),
            "words_with_a_name_of_its_own_Call_dense_MatMul");
  EXPECT_EQ(ShortIdentifier(scopes + "3d/filter/of/nine/more/words/and/a/few/for/it"),
            "m3d_filter_of_nine_more_words_and_a_few_for_it");
  EXPECT_EQ(ShortIdentifier(std::string(60, 'x')), std::string(48, 'x'));
  EXPECT_EQ(ShortIdentifier("", "t"), "t");
}

TEST(Names, ReservedWordsAreFoundFromFirstToLast) {
  for (const char* word : {"EOF", "_Bool", "alignas", "blockDim", "int", "main_", "xor_eq"}) {
    EXPECT_EQ(IsReservedWord(word), std::string(word) != "main_") << word;
  }
}

TEST(Names, LimitsOfTheStandardHeadersAreReserved) {
  for (const char* word : {"INT64_MAX", "UINT_FAST8_MAX", "INTPTR_MIN", "SIZE_MAX", "WCHAR_MIN",
                           "FLT_MAX", "INT8_WIDTH"}) {
    EXPECT_TRUE(IsReservedWord(word)) << word;
  }
  for (const char* word : {"RELU_MAX", "int64_max", "INT64_MAXIMUM", "MAX", "_MAX"}) {
    EXPECT_FALSE(IsReservedWord(word)) << word;
  }
}

TEST(Names, ModelPrefixesFollowTheDocument) {
  EXPECT_EQ(ModelPrefix("mobilenet-v2.1"), "mobilenet_v2_1");
  EXPECT_EQ(ModelPrefix("7net"), "m7net");
  EXPECT_EQ(ModelPrefix("main"), "main_model");
  EXPECT_EQ(ModelPrefix("class"), "class_model");
  EXPECT_EQ(ModelPrefix(""), "model");
  EXPECT_EQ(ModelPrefix("aotc-pool"), "aotc_pool_model");
  EXPECT_EQ(ModelPrefix("AOTC"), "AOTC_model_model");
  EXPECT_EQ(MacroCase("mobilenet_v2"), "MOBILENET_V2");
}

TEST(Names, TheTableNumbersClashes) {
  NameTable table;
  EXPECT_EQ(table.Unique("x"), "x");
  EXPECT_EQ(table.Unique("x."), "x_2");
  EXPECT_EQ(table.Unique("x_2"), "x_2_2");
  EXPECT_EQ(table.Unique("x"), "x_3");
  EXPECT_EQ(table.Unique("float"), "float_");
  EXPECT_EQ(table.Unique("float"), "float_2");
  EXPECT_TRUE(table.Reserve("y"));
  EXPECT_FALSE(table.Reserve("y"));
}

}  // namespace
}  // namespace aotc
