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

/**
 * Encrypts secrets for storage. `aad` binds a secret to its location (`project|resource|field`): moved elsewhere it
 * cannot be decrypted.
 */
export interface SecretBox {
  /** Returns `<kid>.<iv>.<tag>.<ciphertext>`, all but the kid in base64url; different at every call. */
  seal(plaintext: string, aad: string): string
  /** Decrypts a sealed secret. @throws {SecretUnreadable} for a tampered value, another `aad`, or an unknown key. */
  open(sealed: string, aad: string): string
}

/** A sealed value cannot be decrypted; the message contains no part of it. */
export class SecretUnreadable extends Error {
  override readonly name = 'SecretUnreadable'
}

/** The master key file is invalid; `message` is one sentence for the operator. */
export class MasterKeyUnusable extends Error {
  override readonly name = 'MasterKeyUnusable'
}

interface SealingKey {
  /** Identifies the key without revealing it. */
  readonly kid: string
  readonly key: Buffer
}

const keyBytes = 32
const ivBytes = 12
const tagBytes = 16

/**
 * Opens a box with AES-256-GCM. It seals with `masterKey` and also opens values sealed with a `previous` key, so that a
 * key can be rotated.
 *
 * @param keys.masterKey 32 bytes, from which the encryption key is derived.
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
    /** Whether the value was sealed with `masterKey`. */
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
 * Returns the master key in the file at `path`; creates the file, with mode 600, if there is none.
 *
 * Two processes that start at once get the same key: the file appears atomically, and the first process wins.
 *
 * @returns 32 bytes.
 * @throws {MasterKeyUnusable} when others may read the file, this user may not, or it contains anything but 32 bytes in
 * base64.
 */
export const loadMasterKey = (path: string): Buffer => {
  try {
    return readKey(path)
  } catch (error) {
    if (isCode(error, 'EACCES'))
      throw new MasterKeyUnusable(`${path} cannot be read by this user: make this user its owner (chown).`)
    if (!isCode(error, 'ENOENT')) throw error
  }
  makeKey(path)
  return readKey(path)
}

/**
 * Writes a new key to the file at `path` and keeps the old one at `previous`, which must not exist. A process that dies
 * in between leaves the old key in both files, or the new key at `path` and the old one at `previous`.
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

/** Writes a new key to a temporary file next to `path`, and syncs it. */
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
