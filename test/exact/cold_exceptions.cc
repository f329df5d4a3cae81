// Landing pads in f.cold, and partition by hot and cold with cleanups.
// variants: -O2; -O3; -O2 -fPIC; gcc -O2 -freorder-blocks-and-partition -ffunction-sections; clang -O2
#include <cstdio>
#include <string>
#include <vector>

__attribute__((noinline)) static int parse(const std::string &text) {
    if (text.size() > 3)
        throw std::string("long: ") + text;
    return static_cast<int>(text.size());
}

__attribute__((noinline)) static int collect(const std::vector<std::string> &texts) {
    std::vector<int> numbers;
    std::string last;
    for (const auto &text : texts) {
        try {
            numbers.push_back(parse(text));
            last = text + "!";
        } catch (const std::string &message) {
            std::puts(message.c_str());
            if (message.size() > 11)
                throw;
        }
    }
    return static_cast<int>(numbers.size() * 10 + last.size());
}

int main() {
    std::printf("%d\n", collect({"a", "bb", "cccc", "ddd"}));
    try {
        std::printf("%d\n", collect({"x", "yyyyyyyyyyy", "z"}));
    } catch (const std::string &) {
        std::puts("thrown on");
    }
    return 0;
}
