// Sums over leaves in one fixed order, whichever thread comes first.
#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <vector>

#include "values.hpp"

namespace cprime {

// Leaves are the lowest level of a binary tree, and a sum is only ever formed from a left
// and a right sibling: the same additions as the LeafSum of the Python side.
class Tree {
 public:
  Tree(int C, int Dp, int scatter_size) : C_(C), Dp_(Dp), scatter_size_(scatter_size) {}

  struct Node {
    int64_t start;
    int level;
    std::unique_ptr<Sums> sums;
  };

  std::unique_ptr<Sums> empty() {
    {
      std::lock_guard<std::mutex> lock(mutex_);
      if (!spare_.empty()) {
        auto sums = std::move(spare_.back());
        spare_.pop_back();
        return sums;
      }
    }
    auto sums = std::make_unique<Sums>();
    sums->prepare(C_, Dp_, scatter_size_);
    return sums;
  }

  // Adds a leaf, and every pair of siblings that it completes.
  void add(int64_t leaf, std::unique_ptr<Sums> sums) {
    Node node{leaf, 0, std::move(sums)};
    std::unique_lock<std::mutex> lock(mutex_);
    for (;;) {
      const int64_t size = int64_t(1) << node.level, sibling = node.start ^ size;
      const auto found = waiting_.find({node.level, sibling});
      if (found == waiting_.end()) {
        waiting_.emplace(std::make_pair(node.level, node.start), std::move(node));
        return;
      }
      Node other = std::move(found->second);
      waiting_.erase(found);
      lock.unlock();
      if (other.start < node.start) std::swap(node, other);
      node.sums->take(*other.sums, Dp_, scatter_size_);
      ++node.level;
      lock.lock();
      spare_.push_back(std::move(other.sums));
    }
  }

  // What is left when all leaves are in: the largest complete trees, from left to right.
  std::vector<Node> take() {
    std::vector<Node> nodes;
    for (auto& [key, node] : waiting_) nodes.push_back(std::move(node));
    waiting_.clear();
    std::sort(nodes.begin(), nodes.end(),
              [](const Node& a, const Node& b) { return a.start < b.start; });
    return nodes;
  }

 private:
  const int C_, Dp_, scatter_size_;
  std::mutex mutex_;
  std::map<std::pair<int, int64_t>, Node> waiting_;
  std::vector<std::unique_ptr<Sums>> spare_;
};

}  // namespace cprime
