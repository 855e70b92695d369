import { existsSync, readdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { folderOf, keepVerified } from './native-package.js'

/*
 * `postinstall`: removes the builds of onnxruntime-node for other machines, 84 of its 102 MB
 * (specs/decisions/0260-embedder-in-the-box.md), and the package itself if its build for Linux x86-64 is not the recorded
 * one. The package is optional: without it, texts are found by their words.
 */
const name = 'onnxruntime-node'
const { platform, arch } = process

const removeExcept = (folder, kept) => {
  for (const name of readdirSync(folder)) {
    if (name !== kept) rmSync(join(folder, name), { recursive: true, force: true })
  }
}

const isRecorded = platform === 'linux' && arch === 'x64'
if (isRecorded) keepVerified(name, 'texts are found by their words alone.')
const folder = folderOf(name)
const builds = folder === null ? '' : join(folder, 'bin', 'napi-v3')
if (folder !== null && existsSync(join(builds, platform, arch))) {
  removeExcept(builds, platform)
  removeExcept(join(builds, platform), arch)
}
