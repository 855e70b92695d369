/**
 * Encrypts (seals) and decrypts (opens) the secrets in records; `openSecretBox` (src/storage/secrets.ts) makes one from
 * the master key.
 */
export interface SecretBox {
  seal(plaintext: string, aad: string): string
  open(sealed: string, aad: string): string
}

/** Opens a secret; null when it was sealed by another master key, or for another record. */
export const openedOrNull = (box: Pick<SecretBox, 'open'>, sealed: string, aad: string): string | null => {
  try {
    return box.open(sealed, aad)
  } catch {
    return null
  }
}
