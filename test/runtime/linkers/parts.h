/* Functions that no link-time optimization changes: all linkers run the same instructions. */
#define NOIPA __attribute__((noipa))

int part(int n);
int archived(int n);
int library(int n);
