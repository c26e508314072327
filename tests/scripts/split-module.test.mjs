// The module of browsers in two parts: a module of three exports is split, and both parts run as one.

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import binaryen from 'binaryen';
import { splitModule } from '../../scripts/split-module.mjs';

const WHOLE = `(module
  (type $count (func (result i32)))
  (memory $memory 1)
  (global $step (mut i32) (i32.const 1))
  (table $table 3 3 funcref)
  (elem $calls (table $table) (i32.const 1) func $"add one" $rare::twice)
  (export "memory" (memory $memory))
  (export "count" (func $count))
  (export "faster" (func $faster))
  (export "twice" (func $twice))
  (func $"add one" (result i32)
    (i32.store (i32.const 8) (i32.add (i32.load (i32.const 8)) (global.get $step)))
    (i32.load (i32.const 8)))
  (func $count (result i32)
    (call_indirect $table (type $count) (i32.const 1)))
  (func $rare::twice (result i32)
    (drop (call $count))
    (call $count))
  (func $faster (param $by i32)
    (global.set $step (local.get $by)))
  (func $twice (result i32)
    (call_indirect $table (type $count) (i32.const 2))))`;

const RARE = { exports: /^(?:faster|twice)$/, indirect: /rare::/ };

const { MutableGlobals, ReferenceTypes } = binaryen.Features;
const FEATURES = MutableGlobals | ReferenceTypes;

/** @param {string} text */
function compile(text) {
  const module = binaryen.parseText(text);
  module.setFeatures(FEATURES);
  return new WebAssembly.Module(module.emitBinary());
}

/** The whole text as binaryen prints it: with the names of everything. */
function printed() {
  const module = binaryen.parseText(WHOLE);
  module.setFeatures(FEATURES);
  return module.emitText();
}

describe('a module in two parts', () => {
  const { primary, secondary, exported } = splitModule(printed(), RARE);

  it('has the selected exports, and what only they use, in the secondary module', () => {
    assert.deepEqual(exported, ['faster', 'twice']);
    assert.match(secondary, /func \$rare::twice/);
    assert.doesNotMatch(primary, /rare::twice/);
    assert.match(primary, /\(func \$"add one"/);
  });

  it('shares memory, table and globals', () => {
    const first = new WebAssembly.Instance(compile(primary)).exports;
    assert.equal(first.count(), 1);
    const second = new WebAssembly.Instance(compile(secondary), { primary: first }).exports;
    second.faster(10);
    assert.equal(first.count(), 11);
    assert.equal(second.twice(), 31);
    assert.equal(first.count(), 41);
    assert.equal(new Int32Array(first.memory.buffer)[2], 41);
  });

  it('traps where the primary module calls by the table what is not there yet', () => {
    const all = { exports: /^faster$/, indirect: /add one/ };
    const first = new WebAssembly.Instance(compile(splitModule(printed(), all).primary)).exports;
    assert.throws(() => first.count(), WebAssembly.RuntimeError);
  });

  it('is refused when nothing is selected', () => {
    assert.throws(() => splitModule(printed(), { exports: /nothing/, indirect: /nothing/ }), /has no function/);
  });
});
