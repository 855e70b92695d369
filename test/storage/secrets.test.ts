import { randomBytes } from 'node:crypto'
import { chmodSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Worker } from 'node:worker_threads'
import fc from 'fast-check'
import { afterAll, describe, expect, it } from 'vitest'
import type { AnswerPlace } from '#storage/answer-store.ts'
import { LocalAnswers } from '#storage/local-answers.ts'
import { sealedAnswers } from '#storage/sealed-answers.ts'
import { loadMasterKey, openSecretBox, SecretUnreadable } from '#storage/secrets.ts'

const aad = 'prj_1|connection|refresh_token'

describe('the secret box', () => {
  const masterKey = randomBytes(32)
  const box = openSecretBox({ masterKey })

  it('opens what it sealed for any text, and never produces the same sealed value twice', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'grapheme' }), fc.string(), (text, where) => {
        const sealed = box.seal(text, where)
        expect(box.open(sealed, where)).toBe(text)
        expect(box.seal(text, where)).not.toBe(sealed)
      }),
    )
  })

  it('reveals neither the text nor the key in the sealed value', () => {
    const sealed = box.seal('hunter2', aad)
    expect(sealed).not.toContain('hunter2')
    for (const form of ['hex', 'base64', 'base64url'] as const) {
      expect(sealed).not.toContain(masterKey.toString(form).slice(0, 8))
    }
  })

  it('refuses a value in which any one character was changed', () => {
    const sealed = box.seal('a secret', aad)
    for (let i = 0; i < sealed.length; i++) {
      const other = sealed[i] === 'A' ? 'Q' : 'A'
      const changed = sealed.slice(0, i) + other + sealed.slice(i + 1)
      expect(() => box.open(changed, aad)).toThrow(SecretUnreadable)
    }
  })

  it('refuses a value that is truncated, has a short tag, or was never sealed', () => {
    const sealed = box.seal('a secret', aad)
    const [kid, iv, tag, text] = sealed.split('.')
    const broken = ['', 'x', `${kid}`, `${kid}.${iv}.${tag}`, `${sealed}.x`, sealed.slice(0, -2)]
    for (const value of [...broken, `${kid}.${iv}.${tag?.slice(0, 6)}.${text}`]) {
      expect(() => box.open(value, aad)).toThrow(SecretUnreadable)
    }
  })

  it('refuses a value that was sealed for another project or field', () => {
    const sealed = box.seal('a secret', aad)
    for (const other of ['prj_2|connection|refresh_token', 'prj_1|connection|access_token', '']) {
      expect(() => box.open(sealed, other)).toThrow(SecretUnreadable)
    }
  })

  it('opens values of a previous key and seals with the new key', () => {
    const next = randomBytes(32)
    const rotated = openSecretBox({ masterKey: next, previous: [masterKey] })
    expect(rotated.open(box.seal('old', aad), aad)).toBe('old')
    expect(openSecretBox({ masterKey: next }).open(rotated.seal('new', aad), aad)).toBe('new')
  })

  it('refuses a value of an unknown key', () => {
    const stranger = openSecretBox({ masterKey: randomBytes(32) })
    expect(() => box.open(stranger.seal('x', aad), aad)).toThrow('a key that is not known')
  })

  it('refuses a master key of another length', () => {
    expect(() => openSecretBox({ masterKey: randomBytes(16) })).toThrow('32 bytes')
  })
})

describe('the master key file', () => {
  const folder = mkdtempSync(join(tmpdir(), 'troupe-key-'))
  afterAll(() => rmSync(folder, { recursive: true, force: true }))

  it('is created once, in a new folder, with mode 600 and no other files', () => {
    const path = join(folder, 'data', 'master.key')
    const key = loadMasterKey(path)
    expect(key).toHaveLength(32)
    expect(statSync(path).mode & 0o777).toBe(0o600)
    expect(loadMasterKey(path)).toEqual(key)
    expect(readdirSync(join(folder, 'data'))).toEqual(['master.key'])
    expect(Buffer.from(readFileSync(path, 'utf8'), 'base64')).toEqual(key)
  })

  it('is refused if others may read it', () => {
    const path = join(folder, 'open.key')
    loadMasterKey(path)
    chmodSync(path, 0o640)
    expect(() => loadMasterKey(path)).toThrow('chmod 600')
  })

  it('is refused and not replaced if it contains no valid key', () => {
    const path = join(folder, 'short.key')
    writeFileSync(path, 'c2hvcnQ=', { mode: 0o600 })
    expect(() => loadMasterKey(path)).toThrow('32 bytes')
    expect(readFileSync(path, 'utf8')).toBe('c2hvcnQ=')
  })
})

/** Loads the key in a separate thread, as soon as all threads have started. */
const loader = `
  const { parentPort, workerData } = require('node:worker_threads')
  const arrived = new Int32Array(workerData.arrived)
  import(workerData.module).then(({ loadMasterKey }) => {
    Atomics.add(arrived, 0, 1)
    while (Atomics.load(arrived, 0) < workerData.count);
    parentPort.postMessage(loadMasterKey(workerData.path).toString('base64'))
  })
`

it('loadMasterKey creates one key in a shared folder for concurrent callers, and never a partial one', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'troupe-shared-'))
  const path = join(folder, 'master.key')
  const module = new URL('../../src/storage/secrets.ts', import.meta.url).href
  const count = 4
  const workerData = { module, path, count, arrived: new SharedArrayBuffer(4) }
  const keys = await Promise.all(
    Array.from(
      { length: count },
      () =>
        new Promise<string>((resolve, reject) => {
          new Worker(loader, { eval: true, workerData }).once('message', resolve).once('error', reject)
        }),
    ),
  )
  expect(new Set(keys).size).toBe(1)
  expect(Buffer.from(keys[0] ?? '', 'base64')).toHaveLength(32)
  expect(readdirSync(folder)).toEqual(['master.key'])
  rmSync(folder, { recursive: true })
})

const place: AnswerPlace = { project: 'prj_1', lane: '|' }

it('sealed answers are unreadable in their store, and gone where they were moved to another key, lane or project', async () => {
  const store = new LocalAnswers({ steady: () => 0 })
  const sealed = sealedAnswers(store, openSecretBox({ masterKey: Buffer.alloc(32, 1) }))
  await sealed.put(place, 'key', { text: 'a secret answer', ttlMs: 1_000, mark: 0 })
  expect((await sealed.read(place, ['key', 'none']))?.values).toEqual(['a secret answer', null])
  const [text = null] = store.read(place, ['key']).values
  expect(text).not.toContain('secret')
  const moved: readonly (readonly [AnswerPlace, string])[] = [
    [place, 'other'],
    [{ ...place, lane: 'ten_a|' }, 'key'],
    [{ ...place, project: 'prj_2' }, 'key'],
  ]
  for (const [to, key] of moved) {
    await store.put(to, key, { text: text ?? '', ttlMs: 1_000, mark: 0 })
    expect((await sealed.read(to, [key]))?.values).toEqual([null])
  }
  const others = sealedAnswers(store, openSecretBox({ masterKey: Buffer.alloc(32, 2) }))
  expect((await others.read(place, ['key']))?.values).toEqual([null])
  await sealed.forget('prj_1')
  expect((await sealed.read(place, ['key']))?.values).toEqual([null])
})
