// Much of the C++ library in one program: streams, regular expressions, containers, algorithms,
// locale, shared pointers, variants, exceptions thrown from deep in it.
// variants: -O2 -std=c++17; clang -O1 -std=c++17; -O0 -std=c++17 -g
// timeout: 600
#include <algorithm>
#include <any>
#include <iomanip>
#include <iostream>
#include <iterator>
#include <list>
#include <memory>
#include <numeric>
#include <optional>
#include <regex>
#include <set>
#include <sstream>
#include <unordered_map>
#include <variant>
#include <vector>

template <typename... T> struct Overloaded : T... {
    using T::operator()...;
};
template <typename... T> Overloaded(T...) -> Overloaded<T...>;

int main() {
    std::ostringstream out;
    std::regex word("([a-z]+)([0-9]*)");
    std::string text = "alpha1 beta22 gamma delta4444 42";
    for (auto it = std::sregex_iterator(text.begin(), text.end(), word);
         it != std::sregex_iterator(); ++it)
        out << it->str(1) << '/' << it->str(2) << ' ';
    try {
        std::regex broken("a(b");
    } catch (const std::regex_error &e) {
        out << "broken " << (e.code() == std::regex_constants::error_paren);
    }
    std::unordered_map<std::string, std::list<int>> map;
    for (int i = 0; i < 200; i++)
        map["k" + std::to_string(i % 17)].push_back(i);
    std::vector<std::pair<std::string, int>> sums;
    for (auto &[key, values] : map)
        sums.emplace_back(key, std::accumulate(values.begin(), values.end(), 0));
    std::stable_sort(sums.begin(), sums.end());
    for (auto &[key, sum] : sums)
        out << key << '=' << std::hex << std::setw(5) << std::setfill('0') << sum << std::dec << ' ';
    std::vector<std::variant<int, double, std::string>> mixed{1, 2.5, "three", 4};
    for (auto &item : mixed)
        std::visit(Overloaded{[&](int n) { out << "int " << n; }, [&](double d) { out << "double " << d; },
                              [&](const std::string &s) { out << "text " << s; }},
                   item);
    auto shared = std::make_shared<std::vector<int>>(5, 7);
    std::weak_ptr<std::vector<int>> weak = shared;
    shared.reset();
    out << weak.expired() << std::any_cast<int>(std::any(5));
    try {
        std::vector<int>().at(3);
    } catch (const std::out_of_range &) {
        out << " out of range";
    }
    std::optional<int> parsed;
    try {
        parsed = std::stoi("x12");
    } catch (const std::invalid_argument &) {
        parsed = std::stoi("12x");
    }
    std::multiset<int, std::greater<>> numbers{5, 1, 5, 9};
    std::copy(numbers.begin(), numbers.end(), std::ostream_iterator<int>(out, ","));
    std::cout << out.str() << parsed.value() << std::endl;
    return 0;
}
