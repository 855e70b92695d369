import { createHash, hash, randomUUID } from 'node:crypto'
import { mkdirSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { pathToFileURL } from 'node:url'
import { cachedDataVersionTag } from 'node:v8'
import { constants, Script } from 'node:vm'
import { crc32 } from 'node:zlib'

/*
 * The bundle: all modules of the server as one file, and V8's code cache for it
 * (specs/decisions/0115-starting.md). It is used only while every input is unchanged; if anything is wrong
 * with it, it is made again.
 */

/**
 * @typedef {object} Manifest
 * @property {string} node version of Node that it was made for
 * @property {string} name of the bundle's files: the hash of its text
 * @property {number} checksum of its text, which takes half the time of its hash
 * @property {string} inputs hash of all inputs
 * @property {readonly string[]} paths of the inputs, from the root
 * @property {string | null} untouched hash of the inputs' file metadata; null when one had just been written
 */

/** Folder of the bundle's files. @param {string} root of the project, without a trailing slash */
export const folderOf = (root) => `${root}/.cache/start`

const manifestOf = (root) => `${folderOf(root)}/bundle.json`

const sha256 = (content) => createHash('sha256').update(content).digest('hex')

/**
 * Size and time distinguish an installed file from another: npm never changes one in place. In seconds, since images
 * keep no more.
 */
const stampOf = (path) => {
  const { size, mtimeMs } = statSync(path)
  return `${size}:${Math.floor(mtimeMs / 1000)}`
}

/**
 * Returns the hashed content of an input. Sources count by their content: a file written twice within a clock tick
 * keeps its time, and reading them all takes 15 ms.
 *
 * @param {string} root
 * @throws when the file does not exist
 */
export const inputAt = (root) => (path) =>
  path.startsWith('node_modules/') ? stampOf(`${root}/${path}`) : readFileSync(`${root}/${path}`)

/** A file written within this many ms before it was read may be written again with the same timestamp. */
const tickMs = 2_000

/**
 * Hash of the file metadata of all inputs: while it is unchanged, no file was written, moved or replaced, since no
 * program can avoid updating the change time. This takes a third of the time of reading the files.
 *
 * @param {string} root
 * @param {readonly string[]} paths
 * @param {number} at time at or before the reading of their content; ms since the epoch
 * @returns {string | null} null when one of them was written too shortly before `at` for this to be certain
 */
export const untouchedOf = (root, paths, at) => {
  const stamps = [process.version]
  let isCertain = true
  for (const path of paths) {
    const { size, mtimeMs, ctimeMs, ino, dev } = statSync(`${root}/${path}`)
    isCertain &&= ctimeMs < at - tickMs
    stamps.push(path, `${size}:${mtimeMs}:${ctimeMs}:${ino}:${dev}`)
  }
  return isCertain ? hash('sha256', stamps.join('\n')) : null
}

/**
 * Hash of all inputs of a bundle.
 *
 * @param {readonly string[]} paths
 * @param {(path: string) => string | Uint8Array} inputOf
 */
export const inputsOf = (paths, inputOf) => {
  const hash = createHash('sha256').update(process.version)
  for (const path of paths) hash.update(`\n${path}\n`).update(inputOf(path))
  return hash.digest('hex')
}

/**
 * Returns the bundle of the current sources; null when there is none, or anything about it is wrong.
 *
 * @param {string} root
 * @returns {{ readonly file: string, readonly text: string } | null}
 */
export const currentBundle = (root) => {
  try {
    const { node, name, checksum, inputs, paths, untouched } = JSON.parse(readFileSync(manifestOf(root), 'utf8'))
    if (node !== process.version) return null
    const isUntouched = typeof untouched === 'string' && untouchedOf(root, paths, Infinity) === untouched
    if (!isUntouched && inputsOf(paths, inputAt(root)) !== inputs) return null
    const file = `${folderOf(root)}/${name}.bundle.js`
    const content = readFileSync(file)
    // one byte per character, since it is ASCII
    return crc32(content) === checksum ? { file, text: content.latin1Slice() } : null
  } catch {
    return null
  }
}

/**
 * Loads a bundle. V8's code cache avoids parsing and compiling, if one exists for this Node, its flags and this CPU.
 *
 * @param {string} root
 * @param {{ readonly file: string, readonly text: string }} bundle
 */
export const loadBundle = (root, { file, text }) => {
  const cachedData = keptCode(file)
  const script = new Script(text, {
    filename: file,
    ...(cachedData !== null && { cachedData }),
    importModuleDynamically: constants.USE_MAIN_CONTEXT_DEFAULT_LOADER,
  })
  const isCompiled = cachedData !== null && script.cachedDataRejected === false
  const run = () => {
    const exported = {}
    nameSources(root, file)
    const urlOf = (path) => pathToFileURL(`${root}/${path}`).href
    script.runInThisContext()(exported, createRequire(urlOf('src/main.ts')), urlOf)
    return exported
  }
  return { isCompiled, run, keepCode: () => keep(codeFile(file), sealed(script.createCachedData())) }
}

/** Whether V8's code cache exists for this Node, its flags and this CPU. @param {string} file */
export const hasCode = (file) => keptCode(file) !== null

const codeFile = (file) => `${file}.${cachedDataVersionTag()}.code`

/** Bytes before V8's code cache. V8 would copy code that is not aligned to 8 bytes. */
const sealBytes = 8

/** Prepends a checksum: V8 does not verify its cache, and a damaged one would crash the process. */
const sealed = (code) => {
  const seal = Buffer.alloc(sealBytes)
  seal.writeUInt32LE(crc32(code))
  return Buffer.concat([seal, code])
}

const keptCode = (file) => {
  try {
    const content = readFileSync(codeFile(file))
    const code = content.subarray(sealBytes)
    return crc32(code) === content.readUInt32LE() ? code : null
  } catch {
    return null
  }
}

/**
 * Writes a file atomically, since several processes, and threads of one, may start at once.
 *
 * @throws when nothing can be written
 */
export const keep = (file, content) => {
  const part = `${file}.${randomUUID()}.part`
  mkdirSync(file.slice(0, file.lastIndexOf('/')), { recursive: true })
  try {
    writeFileSync(part, content)
    renameSync(part, file)
  } catch (error) {
    rmSync(part, { force: true })
    throw error
  }
}

/**
 * Stores a bundle, and last of all the manifest that makes it current.
 *
 * @param {string} root
 * @param {{ readonly text: string, readonly places: object, readonly inputs: string, readonly paths: readonly string[], readonly untouched: string | null }} made
 */
export const keepBundle = (root, { text, places, inputs, paths, untouched }) => {
  const name = sha256(text)
  const file = `${folderOf(root)}/${name}.bundle.js`
  keep(file, text)
  keep(`${file}.places`, JSON.stringify(places))
  const manifest = { node: process.version, name, checksum: crc32(text), inputs, paths, untouched }
  keep(manifestOf(root), JSON.stringify(manifest))
}

/** Maps stack traces to source files and lines, as without a bundle. The table is read with the first stack. */
const nameSources = (root, file) => {
  let places
  const placeOf = (line) => {
    places ??= placesOf(file)
    const source = places.sources[places.files[line - 1]]
    return source === undefined ? null : `${root}/${source}:${places.lines[line - 1]}`
  }
  const named = (frame) => {
    const text = String(frame)
    const line = frame.getFileName() === file ? frame.getLineNumber() : null
    const place = line === null ? null : placeOf(line)
    return place === null ? text : text.replace(`${file}:${line}:${frame.getColumnNumber()}`, place)
  }
  Error.prepareStackTrace = (error, frames) => {
    const lines = frames.map((frame) => `\n    at ${named(frame)}`)
    return `${titleOf(error)}${lines.join('')}`
  }
}

const placesOf = (file) => {
  try {
    return JSON.parse(readFileSync(`${file}.places`, 'utf8'))
  } catch {
    return { sources: [], files: [], lines: [] }
  }
}

const titleOf = (error) => {
  try {
    return Error.prototype.toString.call(error)
  } catch {
    return 'Error'
  }
}
