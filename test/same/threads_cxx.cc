// Threads, mutexes, condition variables, atomics, futures, thread-local destructors, call_once.
// flags: -pthread
// variants: -O0; -O2; clang -O2; -O2 -static-pie
#include <atomic>
#include <condition_variable>
#include <cstdio>
#include <deque>
#include <future>
#include <mutex>
#include <thread>
#include <vector>

static std::mutex mutex;
static std::condition_variable filled;
static std::deque<int> queue;
static std::atomic<long> total, destroyed;
static std::once_flag once;
static int started;

struct Own {
    int count = 0;
    ~Own() {
        destroyed += count;
    }
};
static thread_local Own own;

static void consume() {
    std::call_once(once, [] { started++; });
    for (;;) {
        std::unique_lock<std::mutex> lock(mutex);
        filled.wait(lock, [] { return !queue.empty(); });
        int item = queue.front();
        queue.pop_front();
        lock.unlock();
        if (item < 0)
            return;
        own.count++;
        total += item;
    }
}

static long count_primes(int from, int to) {
    long primes = 0;
    for (int n = from; n < to; n++) {
        bool prime = n > 1;
        for (int d = 2; d * d <= n && prime; d++)
            prime = n % d != 0;
        primes += prime;
    }
    return primes;
}

int main() {
    std::vector<std::thread> threads;
    for (int i = 0; i < 8; i++)
        threads.emplace_back(consume);
    for (int i = 0; i < 5000; i++) {
        std::lock_guard<std::mutex> lock(mutex);
        queue.push_back(i);
        filled.notify_one();
    }
    {
        std::lock_guard<std::mutex> lock(mutex);
        queue.insert(queue.end(), 8, -1);
    }
    filled.notify_all();
    for (auto &thread : threads)
        thread.join();
    std::vector<std::future<long>> parts;
    for (int i = 0; i < 6; i++)
        parts.push_back(std::async(std::launch::async, count_primes, i * 2000, (i + 1) * 2000));
    long primes = 0;
    for (auto &part : parts)
        primes += part.get();
    std::atomic<int> spin{0};
    std::thread other([&] { spin = 1; });
    while (!spin)
        std::this_thread::yield();
    other.join();
    std::printf("%ld %ld %d %ld\n", total.load(), destroyed.load(), started, primes);
    return 0;
}
