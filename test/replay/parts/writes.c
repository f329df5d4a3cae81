// Writes by instructions, by the C library and by the kernel, and what pointers lead to.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct node {
    struct node *next;
    int value;
};
struct book {
    short pages[6];
    char title[20];
};

static struct book book;
static struct node *head;
static long total;
static int pipes[2];

__attribute__((noinline)) static void push(int value) {
    struct node *node = malloc(sizeof *node);
    node->next = head;
    node->value = value;
    head = node;
    total += value;
}

int main(void) {
    for (int i = 0; i < 4; i++)
        push(i);
    total += 0;
    head->value = 77;
    head->next->value = 88;
    book.pages[3] = 9;
    memset(book.pages, 1, sizeof book.pages);
    strcpy(book.title, "knots");
    if (pipe(pipes) || write(pipes[1], "chords", 6) != 6 || read(pipes[0], book.title, 6) != 6)
        return 1;
    printf("%s %ld\n", book.title, total);
    return 5;
}
