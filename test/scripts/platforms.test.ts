import { spawnSync } from 'node:child_process'
import { copyFileSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, it, onTestFinished } from 'vitest'
import { boundPart } from '#scripts/platforms/bound-part.ts'

interface Locked {
  readonly optional?: boolean
  readonly dev?: boolean
  readonly os?: readonly string[] | string
  readonly cpu?: readonly string[] | string
  readonly dependencies?: Readonly<Record<string, string>>
}

const lock: { readonly packages: Readonly<Record<string, Locked>> } = JSON.parse(
  readFileSync('package-lock.json', 'utf8'),
)

describe('the packages that npm installs', () => {
  it('are optional if they are for one platform only', () => {
    const bound = Object.entries(lock.packages).filter(([, { os, cpu }]) => os !== undefined || cpu !== undefined)
    expect(bound.length).toBeGreaterThan(5)
    expect(bound.filter(([, { optional }]) => optional !== true).map(([name]) => name)).toEqual([])
  })

  /** Output of npm when a package requires another Node version than npm's. */
  const printed = (withOurs: boolean): string => {
    const folder = mkdtempSync(join(tmpdir(), 'troupe-engines-'))
    onTestFinished(() => rmSync(folder, { recursive: true }))
    mkdirSync(join(folder, 'other'))
    const other = { name: 'other', version: '1.0.0', engines: { node: '>=99' } }
    writeFileSync(join(folder, 'other/package.json'), JSON.stringify(other))
    const dependencies = { other: 'file:other' }
    writeFileSync(join(folder, 'package.json'), JSON.stringify({ name: 'a', version: '1.0.0', dependencies }))
    if (withOurs) copyFileSync('.npmrc', join(folder, '.npmrc'))
    const { PATH = '', HOME = '' } = process.env
    const args = ['install', '--offline', '--no-audit', '--no-fund', '--ignore-scripts']
    const { status, stdout, stderr } = spawnSync('npm', args, { cwd: folder, env: { PATH, HOME }, encoding: 'utf8' })
    expect(status).toBe(0)
    return stdout + stderr
  }

  it("cause no EBADENGINE warning with the repository's .npmrc", () => {
    expect(printed(false)).toContain('EBADENGINE')
    expect(printed(true)).not.toContain('EBADENGINE')
  })
})

describe('the platform-specific part of an installation', () => {
  const part = boundPart(JSON.parse(readFileSync('package.json', 'utf8')), lock)

  it('has every platform-specific package of the server, and the packages that depend on it', () => {
    const bound = Object.entries(lock.packages).filter(
      ([, { os, cpu, dev }]) => dev !== true && (os !== undefined || cpu !== undefined),
    )
    expect(Object.keys(part.lock.packages)).toEqual(expect.arrayContaining(bound.map(([name]) => name)))
    expect(Object.keys(part.manifest.dependencies).toSorted()).toEqual(['@node-rs/argon2', 'rolldown'])
  })

  it('has all dependencies of its packages', () => {
    const names = Object.keys(part.lock.packages)
    for (const [at, { dependencies = {} }] of Object.entries(part.lock.packages))
      for (const name of Object.keys(dependencies))
        expect(
          names.some((each) => each.endsWith(`node_modules/${name}`)),
          `${at} needs ${name}`,
        ).toBe(true)
  })

  it('leaves out platform-independent packages', () => {
    expect(Object.keys(part.lock.packages)).not.toContain('node_modules/mongodb')
  })
})
