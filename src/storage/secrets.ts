import { createCipheriv, createDecipheriv, hkdfSync, randomBytes } from 'node:crypto'
import {
  closeSync,
  fsyncSync,
  linkSync,
  mkdirSync,
  openSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeSync,
} from 'node:fs'
import { dirname } from 'node:path'

/** Seals secrets for storage. `aad` says where a secret belongs (`project|resource|field`): moved elsewhere it does not open. */
export interface SecretBox {
  /** `<kid>.<iv>.<tag>.<ciphertext>`, parts in base64url but the kid; differs at every call. */
  seal(plaintext: string, aad: string): string
  /** @throws {SecretUnreadable} for a tampered value, another `aad`, or a key that is not known. */
  open(sealed: string, aad: string): string
}

/** A sealed value that cannot be opened; the message never carries any of it. */
export class SecretUnreadable extends Error {
  override readonly name = 'SecretUnreadable'
}

/** The file of the master key is not one; `message` is one sentence for the operator. */
export class MasterKeyUnusable extends Error {
  override readonly name = 'MasterKeyUnusable'
}

interface SealingKey {
  /** Names the key without giving it away. */
  readonly kid: string
  readonly key: Buffer
}

const keyBytes = 32
const ivBytes = 12
const tagBytes = 16

/**
 * A box of AES-256-GCM. It seals with `masterKey` and also opens what `previous` keys sealed, so that a key can be changed.
 *
 * @param keys.masterKey 32 bytes; what encrypts is derived from it.
 * @throws {Error} for a key of another length.
 */
export const openSecretBox = ({
  masterKey,
  previous = [],
}: {
  readonly masterKey: Buffer
  readonly previous?: readonly Buffer[]
}): SecretBox & { isCurrent(sealed: string): boolean } => {
  const current = sealingKey(masterKey)
  const known = new Map([...previous.map(sealingKey), current].map((each) => [each.kid, each]))
  return {
    seal: (plaintext, aad) => sealWith(current, plaintext, aad),
    /** Whether `masterKey` has sealed it. */
    isCurrent: (sealed) => sealed.startsWith(`${current.kid}.`),
    open: (sealed, aad) => {
      const [kid = '', ...parts] = sealed.split('.')
      const key = known.get(kid)
      if (!key) throw new SecretUnreadable('the secret was sealed with a key that is not known')
      return openWith(key, parts, aad)
    },
  }
}

/**
 * The master key in the file at `path`; made, with mode 600, when there is none.
 *
 * Two processes that start at once end up with the same key: the file appears whole or not at all, and the first wins.
 *
 * @returns 32 bytes.
 * @throws {MasterKeyUnusable} when others may read the file, or it holds anything but 32 bytes in base64.
 */
export const loadMasterKey = (path: string): Buffer => {
  try {
    return readKey(path)
  } catch (error) {
    if (!isCode(error, 'ENOENT')) throw error
  }
  makeKey(path)
  return readKey(path)
}

/**
 * Puts a new key into the file at `path` and keeps the one before at `previous`, which must not be there. A process that
 * dies in between leaves the old key in both places, or the new one in its own.
 */
export const replaceMasterKey = (path: string, previous: string): void => {
  linkSync(path, previous)
  const draft = draftOf(path)
  try {
    renameSync(draft, path)
  } finally {
    rmSync(draft, { force: true })
  }
}

const sealingKey = (masterKey: Buffer): SealingKey => {
  if (masterKey.length !== keyBytes) throw new Error(`a master key has ${keyBytes} bytes, not ${masterKey.length}`)
  const derive = (purpose: string, bytes: number) => Buffer.from(hkdfSync('sha256', masterKey, '', purpose, bytes))
  return { kid: derive('secret box kid', 6).toString('hex'), key: derive('secret box key', keyBytes) }
}

const sealWith = ({ kid, key }: SealingKey, plaintext: string, aad: string): string => {
  const iv = randomBytes(ivBytes)
  const cipher = createCipheriv('aes-256-gcm', key, iv).setAAD(Buffer.from(aad))
  const sealed = Buffer.concat([cipher.update(plaintext, 'utf8'), cipher.final()])
  return [kid, ...[iv, cipher.getAuthTag(), sealed].map((part) => part.toString('base64url'))].join('.')
}

const openWith = ({ key }: SealingKey, parts: readonly string[], aad: string): string => {
  const [iv, tag, sealed] = parts.map((part) => Buffer.from(part, 'base64url'))
  if (parts.length !== 3 || iv?.length !== ivBytes || tag?.length !== tagBytes || !sealed) {
    throw new SecretUnreadable('the secret is no sealed value')
  }
  try {
    const decipher = createDecipheriv('aes-256-gcm', key, iv, { authTagLength: tagBytes })
    decipher.setAAD(Buffer.from(aad)).setAuthTag(tag)
    return Buffer.concat([decipher.update(sealed), decipher.final()]).toString('utf8')
  } catch {
    throw new SecretUnreadable('the secret was changed or belongs elsewhere')
  }
}

const readKey = (path: string): Buffer => {
  if ((statSync(path).mode & 0o077) !== 0)
    throw new MasterKeyUnusable(`${path} must be readable by its owner only (chmod 600).`)
  const text = readFileSync(path, 'utf8').trim()
  const key = Buffer.from(text, 'base64')
  if (key.length !== keyBytes || key.toString('base64') !== text) {
    throw new MasterKeyUnusable(`${path} does not hold ${keyBytes} bytes in base64: put the right file back.`)
  }
  return key
}

const makeKey = (path: string): void => {
  mkdirSync(dirname(path), { recursive: true, mode: 0o700 })
  const draft = draftOf(path)
  try {
    linkSync(draft, path)
  } catch (error) {
    if (!isCode(error, 'EEXIST')) throw error
  } finally {
    rmSync(draft, { force: true })
  }
}

/** A new key in a file beside `path`, on disk. */
const draftOf = (path: string): string => {
  const draft = `${path}.${randomBytes(6).toString('hex')}`
  const file = openSync(draft, 'wx', 0o600)
  writeSync(file, `${randomBytes(keyBytes).toString('base64')}\n`)
  fsyncSync(file)
  closeSync(file)
  return draft
}

const isCode = (error: unknown, code: string): boolean =>
  error instanceof Error && 'code' in error && error.code === code
