/* tree.c: insertion into a binary search tree, recursive, and a walk in order. */
#include "kernel.h"

#include <stdio.h>

enum {
    COUNT = 20000
};

struct node {
    struct node *left, *right;
    uint32_t key, count;
};

static struct node nodes[COUNT];
static size_t used;

static struct node *insert(struct node *node, uint32_t key) {
    if (!node) {
        node = &nodes[used++];
        *node = (struct node){.key = key, .count = 1};
    } else if (key < node->key) {
        node->left = insert(node->left, key);
    } else if (key > node->key) {
        node->right = insert(node->right, key);
    } else {
        node->count++;
    }
    return node;
}

static uint32_t walk(const struct node *node, uint32_t checksum) {
    if (!node)
        return checksum;
    checksum = walk(node->left, checksum);
    checksum = checksum * 31 + node->key * node->count;
    return walk(node->right, checksum);
}

int main(int argc, char **argv) {
    uint64_t state = 5;
    uint32_t checksum = 0;
    for (unsigned round = kernel_rounds(argc, argv, 400); round; round--) {
        struct node *root = NULL;
        used = 0;
        for (unsigned i = 0; i < COUNT; i++)
            root = insert(root, next_random(&state) % (4 * COUNT));
        checksum = walk(root, checksum);
    }
    printf("%u\n", checksum);
    return 0;
}
