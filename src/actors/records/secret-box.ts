/**
 * Encrypts (seals) and decrypts (opens) the secrets in records; `openSecretBox` (src/storage/secrets.ts) makes one from
 * the master key.
 */
export interface SecretBox {
  seal(plaintext: string, aad: string): string
  open(sealed: string, aad: string): string
}
