import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'

interface Locked {
  readonly optional?: boolean
  readonly dev?: boolean
  readonly os?: readonly string[] | string
  readonly cpu?: readonly string[] | string
}

const lock: { readonly packages: Readonly<Record<string, Locked>> } = JSON.parse(
  readFileSync('package-lock.json', 'utf8'),
)

describe('what npm installs', () => {
  it('binds no machine: each package for one platform only is optional', () => {
    const bound = Object.entries(lock.packages).filter(([, { os, cpu }]) => os !== undefined || cpu !== undefined)
    expect(bound.length).toBeGreaterThan(5)
    expect(bound.filter(([, { optional }]) => optional !== true).map(([name]) => name)).toEqual([])
  })
})
