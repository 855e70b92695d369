import { existsSync, readdirSync, rmSync } from 'node:fs'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'

/*
 * `postinstall`: removes the builds of onnxruntime-node for other machines, 84 of its 102 MB
 * (specs/decisions/0260-embedder-in-the-box.md). The package is optional: without it, texts are found by their words.
 */
const { platform, arch } = process

const buildsFolder = () => {
  try {
    return join(dirname(createRequire(import.meta.url).resolve('onnxruntime-node/package.json')), 'bin', 'napi-v3')
  } catch {
    return null
  }
}

const removeExcept = (folder, kept) => {
  for (const name of readdirSync(folder)) {
    if (name !== kept) rmSync(join(folder, name), { recursive: true, force: true })
  }
}

const builds = buildsFolder()
if (builds !== null && existsSync(join(builds, platform, arch))) {
  removeExcept(builds, platform)
  removeExcept(join(builds, platform), arch)
}
