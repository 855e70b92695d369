import { cpSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { afterEach, describe, expect, it } from 'vitest'
import { binaryFindings, modelRuntime, nativeServer } from '#scripts/check/native-binary.ts'

const modules = resolve(import.meta.dirname, '../../../node_modules')
const folders: string[] = []

/** A copy of the installed package. */
const copied = (): string => {
  const folder = mkdtempSync(join(tmpdir(), 'troupe-binary-'))
  folders.push(folder)
  cpSync(join(modules, nativeServer.package), join(folder, nativeServer.package), { recursive: true })
  return folder
}

describe('a recorded binary', () => {
  afterEach(() => {
    for (const folder of folders.splice(0)) rmSync(folder, { recursive: true })
  })

  it.each([nativeServer, modelRuntime])('$package is the installed one', (recorded) => {
    expect(binaryFindings(modules, recorded)).toEqual([])
  })

  it.each(Object.keys(nativeServer.files))('is reported if one byte of %s differs', (file) => {
    const folder = copied()
    writeFileSync(join(folder, nativeServer.package, file), ' ', { flag: 'a' })
    expect(binaryFindings(folder, nativeServer)).toEqual([
      `${file} of uWebSockets.js 20.51.4 is not the file that was recorded`,
    ])
  })

  it('is reported if its version differs', () => {
    expect(binaryFindings(copied(), { ...nativeServer, version: '20.0.0' })).toEqual([
      'uWebSockets.js 20.0.0 is recorded, and 20.51.4 is installed',
    ])
  })

  it('is not required if the package is not installed', () => {
    expect(binaryFindings(join(tmpdir(), 'nothing-here'), nativeServer)).toEqual([])
  })
})
