// RUN: headrace-opt %s -split-input-file -verify-diagnostics

// expected-error@+1 {{topo.mesh must be a #topo.mesh, got 3}}
module attributes {topo.mesh = 3 : i64} {}

// -----

// expected-error@+1 {{topo.topology must be a #topo.topology}}
module attributes {topo.topology = "p5"} {}

// -----

// expected-error@+1 {{topo.mesh belongs on a module}}
func.func private @f() attributes {topo.mesh = #topo.mesh<@m, [("a", 1)]>}

// -----

// expected-error@+1 {{unknown attribute of dialect topo: topo.colour}}
module attributes {topo.colour = 1} {}

// -----

// expected-error@+1 {{a mesh has 1 to 8 axes, got 0}}
module attributes {topo.mesh = #topo.mesh<@m, []>} {}

// -----

// expected-error@+1 {{mesh axis names must not be empty}}
module attributes {topo.mesh = #topo.mesh<@m, [("", 2)]>} {}

// -----

// expected-error@+1 {{mesh axis names must be unique, got twice: "a"}}
module attributes {topo.mesh = #topo.mesh<@m, [("a", 2), ("a", 2)]>} {}

// -----

// expected-error@+1 {{mesh axis sizes must be at least 1 and give at most 1048576 ranks, got 0 for "a"}}
module attributes {topo.mesh = #topo.mesh<@m, [("a", 0)]>} {}

// -----

// expected-error@+1 {{got 1048576 for "b"}}
module attributes {topo.mesh = #topo.mesh<@m, [("a", 2), ("b", 1048576)]>} {}

// -----

// expected-error@+1 {{a topology needs a name and a hash}}
module attributes {topo.topology = #topo.topology<"p5", hash = "">} {}
