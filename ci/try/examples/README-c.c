#include <windlass.h>

static windlass_flow *begin(windlass_stack stack, windlass_path path) {
  char error[256];
// BLOCK
  return flow;
}

int main(void) {
  windlass_stack stack = {0};
  windlass_path path = {0};
  return begin(stack, path) != 0;
}
