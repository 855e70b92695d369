import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { runCommand } from './command.ts'

/** Paths of certificates of one authority that lasts a day, made for a test. */
export interface Certificates {
  readonly ca: string
  /** Of a server that is called by another name than its address. */
  readonly server: { readonly cert: string; readonly key: string; readonly name: string }
  readonly client: { readonly cert: string; readonly key: string }
  remove(): void
}

const name = 'redis.test'

/** Makes certificates with openssl. */
export const makeCertificates = (): Certificates => {
  const folder = mkdtempSync(join(tmpdir(), 'troupe-certificates-'))
  const at = (file: string) => join(folder, file)
  const key = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes', '-days', '1']
  const run = (...args: readonly string[]) => runCommand('openssl', args)
  run('req', '-x509', ...key, '-subj', '/CN=test authority', '-keyout', at('ca.key'), '-out', at('ca.pem'))
  const signed = (who: string, subject: string) => {
    writeFileSync(at(`${who}.ext`), `subjectAltName=DNS:${subject}\n`)
    run(
      'req',
      '-new',
      ...key.slice(0, -2),
      '-subj',
      `/CN=${subject}`,
      '-keyout',
      at(`${who}.key`),
      '-out',
      at(`${who}.csr`),
    )
    const authority = ['-CA', at('ca.pem'), '-CAkey', at('ca.key'), '-CAcreateserial', '-days', '1']
    run('x509', '-req', '-in', at(`${who}.csr`), ...authority, '-extfile', at(`${who}.ext`), '-out', at(`${who}.pem`))
    return { cert: at(`${who}.pem`), key: at(`${who}.key`) }
  }
  const remove = () => rmSync(folder, { recursive: true, force: true })
  return { ca: at('ca.pem'), server: { ...signed('server', name), name }, client: signed('client', 'troupe'), remove }
}
