// Loaded before the program by `code-cache.mjs`: compiles its chunks as `bin/code-cache.js` does, and keeps what V8 has of them at the end.
const { writeFileSync } = require('node:fs')
const Module = require('node:module')
const { basename, dirname, join } = require('node:path')
const { compile } = require('../bin/code-cache.js')

const { SKEIN_CODE_OF: bundle, SKEIN_CODE_OUT: out } = process.env
const scripts = new Map()
const load = Module._extensions['.js']
Module._extensions['.cjs'] = (module, path) => {
  if (dirname(path) === join(bundle, 'chunks')) scripts.set(path, compile(module, path))
  else load(module, path)
}
process.on('exit', () => {
  for (const [path, script] of scripts) writeFileSync(join(out, basename(path)), script.createCachedData())
})
