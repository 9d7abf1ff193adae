#include "server/storm.h"

namespace tessera::server {
namespace {

TEST(SlowStorm, Of10000) { storm(10'000); }

}  // namespace
}  // namespace tessera::server
