#include "parley/turn/ledger.hpp"

#include <gtest/gtest.h>

namespace parley::turn {
namespace {

TEST(LedgerTest, KeepsWhatWasHeard) {
  Ledger ledger;
  ledger.begin_sentence("The lamp is on.", 0);
  ledger.extend_to(1000);
  ledger.begin_sentence("Anything else today?", 1000);
  ledger.extend_to(2000);
  EXPECT_EQ(ledger.heard(0), "");
  EXPECT_EQ(ledger.heard(1000), "The lamp is on.");
  EXPECT_EQ(ledger.heard(1600), "The lamp is on. Anything…");
  EXPECT_EQ(ledger.heard(2000), "The lamp is on. Anything else today?");
  EXPECT_EQ(ledger.all(), "The lamp is on. Anything else today?");
}

TEST(LedgerTest, NothingOfAFirstWordThatWasCutOff) {
  Ledger ledger;
  ledger.begin_sentence("Extraordinarily good.", 0);
  ledger.extend_to(1000);
  EXPECT_EQ(ledger.heard(100), "");
}

TEST(LedgerTest, ScriptsWithoutBlanksAreCutBetweenCharacters) {
  Ledger ledger;
  ledger.begin_sentence("今天天气很好", 0);
  ledger.extend_to(600);
  EXPECT_EQ(ledger.heard(250), "今天…");
}

}  // namespace
}  // namespace parley::turn
