#include "core/optim/list_loss.hh"

#include <map>
#include <stdexcept>
#include <utility>

namespace dragoman::optim {

namespace {

// Filled before main, read only afterwards.
std::map<std::string, LossFunction>& registry() {
  static std::map<std::string, LossFunction> losses;
  return losses;
}

}  // namespace

RegisterLoss::RegisterLoss(std::string name, LossFunction function) { registry().emplace(std::move(name), function); }

ListLoss list_loss(const std::string& name, double setting) {
  const auto found = registry().find(name);
  if (found == registry().end()) throw std::invalid_argument("no loss is called " + name);
  return {found->second, setting};
}

std::vector<std::string> list_loss_names() {
  std::vector<std::string> names;
  for (const auto& [name, function] : registry()) names.push_back(name);
  return names;
}

}  // namespace dragoman::optim
