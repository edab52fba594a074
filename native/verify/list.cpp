// timpani-list: every algorithm, a JSON object a line. Needs no MPI.

#include <iostream>
#include <string>
#include <vector>

#include "json/json.hpp"
#include "schedule/algorithm.hpp"

int main() {
    using namespace timpani;
    for (const Algorithm* algorithm : algorithms()) {
        std::vector<std::string> parameters;
        for (const auto& parameter : algorithm->parameters) {
            parameters.push_back(JsonObject()
                                     .add("name", parameter.name)
                                     .add("default", parameter.default_value)
                                     .add("minimum", parameter.minimum)
                                     .add("trial_values", parameter.trial_values)
                                     .add("meaning", parameter.meaning)
                                     .text());
        }
        std::vector<std::string> aliases;
        for (const auto alias : algorithm->aliases) aliases.push_back(json_string(alias));
        std::cout << JsonObject()
                         .add("collective", algorithm->collective)
                         .add("name", algorithm->name)
                         .add("source", algorithm->source)
                         .add("cost", algorithm->cost)
                         .add("power_of_two", algorithm->restrictions.power_of_two)
                         .add("even", algorithm->restrictions.even)
                         .add("commutative", algorithm->restrictions.commutative)
                         .add("topology", algorithm->restrictions.topology)
                         .add("window", algorithm->window != nullptr)
                         .add_json("parameters", json_array(parameters))
                         .add_json("aliases", json_array(aliases))
                         .text()
                  << '\n';
    }
}
