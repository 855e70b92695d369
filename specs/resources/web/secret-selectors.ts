/**
 * Whether a text names a field for a password, a secret or a token. It also matches words within names:
 * `user[password]`, `apiKey`, `x-csrf-token`.
 */
export const isSecretName = (text: string): boolean =>
  /pass ?word|passwd|passphrase|passcode|\bpwd\b|secret|token|\botp\b|one time code|\bcvv\b|\bcvc\b|api ?key|private ?key/i.test(
    text.replaceAll(/([a-z])([A-Z])/g, '$1 $2').replaceAll(/[_\-.[\]"'#=:]+/g, ' '),
  )
