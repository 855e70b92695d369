import { randomBytes, scryptSync } from 'node:crypto'
import { openSecretBox, SecretUnreadable } from '#storage/index.ts'
import type { SecretBox } from '../records/secret-box.ts'
import { BackupError } from './backup-error.ts'
import type { Sealing } from './schema.ts'

/** Keys for the secrets of a file: the installation's own, and the operator's passphrase if there is one. */
export interface Secrets {
  /** The installation's own box. */
  readonly box: SecretBox
  /** `ApiKeys.pepperName`. */
  readonly pepper: string
  readonly passphrase: string | null
}

/** Shortest passphrase. A shorter one could be guessed from the file. */
const minPassphraseLength = 12

/** About 0.3 s and 128 MB, for each guess too. */
const scrypt = { N: 131_072, r: 8, p: 1, maxmem: 256 * 1024 * 1024 }

const probeText = 'troupe'
const probeAad = 'backup|probe'

/**
 * Returns how a new file's secrets are sealed, and the box that seals them. @throws {BackupError} for a short
 * passphrase.
 */
export const newSealing = ({ box, passphrase }: Secrets): { readonly sealing: Sealing; readonly box: SecretBox } => {
  if (passphrase === null) return { sealing: { by: 'master_key' }, box }
  if (passphrase.length < minPassphraseLength) {
    throw new BackupError(`BACKUP_PASSPHRASE needs ${minPassphraseLength} characters or more.`)
  }
  const salt = randomBytes(16).toString('base64')
  const own = passphraseBox(passphrase, salt)
  return { sealing: { by: 'passphrase', salt, probe: own.seal(probeText, probeAad) }, box: own }
}

/** Returns the box that opens a file's secrets. @throws {BackupError} when the passphrase is missing or wrong. */
export const boxOf = (sealing: Sealing, { box, passphrase }: Secrets): SecretBox => {
  if (sealing.by === 'master_key') return box
  if (passphrase === null) throw new BackupError('The file is encrypted with a passphrase: set BACKUP_PASSPHRASE.')
  const own = passphraseBox(passphrase, sealing.salt)
  try {
    own.open(sealing.probe, probeAad)
    return own
  } catch (error) {
    if (error instanceof SecretUnreadable) throw new BackupError('BACKUP_PASSPHRASE does not match this file.')
    throw error
  }
}

const passphraseBox = (passphrase: string, salt: string): SecretBox =>
  openSecretBox({ masterKey: scryptSync(passphrase.normalize(), Buffer.from(salt, 'base64'), 32, scrypt) })
