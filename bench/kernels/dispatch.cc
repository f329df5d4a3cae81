/* dispatch.cc: small virtual functions called through pointers to a base class. */
#include "kernel.h"

#include <cstdio>
#include <memory>
#include <vector>

namespace {

class Shape {
  public:
    virtual ~Shape() = default;
    virtual uint32_t area() const = 0;
    virtual void grow(uint32_t by) = 0;
};

class Square : public Shape {
  public:
    explicit Square(uint32_t length) : side(length) {
    }
    uint32_t area() const override {
        return side * side;
    }
    void grow(uint32_t by) override {
        side = (side + by) & 0xff;
    }

  private:
    uint32_t side;
};

class Rectangle : public Shape {
  public:
    Rectangle(uint32_t x, uint32_t y) : width(x), height(y) {
    }
    uint32_t area() const override {
        return width * height;
    }
    void grow(uint32_t by) override {
        width = (width + by) & 0xff;
        height ^= by;
    }

  private:
    uint32_t width, height;
};

class Pair : public Shape {
  public:
    Pair(std::unique_ptr<Shape> a, std::unique_ptr<Shape> b)
        : first(std::move(a)), second(std::move(b)) {
    }
    uint32_t area() const override {
        return first->area() + second->area();
    }
    void grow(uint32_t by) override {
        first->grow(by);
        second->grow(by + 1);
    }

  private:
    std::unique_ptr<Shape> first, second;
};

std::unique_ptr<Shape> make_shape(uint64_t *state, int depth) {
    uint32_t random = next_random(state);
    if (depth && random % 4 == 0) {
        std::unique_ptr<Shape> first = make_shape(state, depth - 1);
        return std::make_unique<Pair>(std::move(first), make_shape(state, depth - 1));
    }
    if (random % 2)
        return std::make_unique<Square>(random >> 24);
    return std::make_unique<Rectangle>(random >> 24, random >> 16 & 0xff);
}

} // namespace

int main(int argc, char **argv) {
    uint64_t state = 9;
    std::vector<std::unique_ptr<Shape>> shapes;
    for (int i = 0; i < 1000; i++)
        shapes.push_back(make_shape(&state, 3));
    uint32_t checksum = 0;
    for (unsigned round = kernel_rounds(argc, argv, 60000); round; round--)
        for (auto &shape : shapes) {
            checksum = checksum * 31 + shape->area();
            shape->grow(round & 3);
        }
    std::printf("%u\n", checksum);
    return 0;
}
