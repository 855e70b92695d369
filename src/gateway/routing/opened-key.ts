import type { SecretBox } from '#records/secret-box.ts'

/** Opens a sealed key; null when it cannot be decrypted, as after a change of the master key. */
export const openedKey = (box: Pick<SecretBox, 'open'>, sealed: string, aad: string): string | null => {
  try {
    return box.open(sealed, aad)
  } catch {
    return null
  }
}

/** The error message for a key that cannot be decrypted. */
export const lostKeyMessage = 'The key can no longer be decrypted. Set it again.'
