import { randomBytes } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import { readCommandLine, wholeOption } from '#src/start/command-line.ts'
import { startServer } from '../services/server.ts'
import type { Service } from '../services/service.ts'
import { type DriveReport, driveJobs } from './drive-jobs.ts'

/**
 * `npm run browser-jobs -- --jobs 1000`: runs this many browser jobs on one server against a local site, 40 at a time.
 * Some read, some send a form, some are cancelled. Exits with 1 when a job failed, a form was sent twice, or a browser
 * process is left.
 */
const usage = [
  'usage: npm run browser-jobs -- [--jobs 1000] [--open 40]',
  '',
  'Runs that many browser jobs on one server, `open` of them at a time. Exits with 1 if a job fails, a form is sent twice or a process',
  'of a browser is left.',
].join('\n')
const values = readCommandLine({ usage, options: { jobs: { type: 'string' }, open: { type: 'string' } } })
const count = wholeOption(usage, 'jobs', values.jobs ?? '1000')
const open = wholeOption(usage, 'open', values.open ?? '40')

let server: Service | null = null
const startedAt = performance.now()
const report: DriveReport = await driveJobs({
  count,
  open,
  start: async (host) => {
    const key = `csk_${randomBytes(32).toString('base64url')}`
    server = await startServer({ BOOTSTRAP_SECRET_KEY: key, ALLOWED_PRIVATE_CONTENT_HOSTS: host })
    return { url: server.url, key }
  },
})
const serverMb = await residentMb(server)
await stopped(server)
console.log({ ...report, serverMb, seconds: Math.round((performance.now() - startedAt) / 1000) })
process.exitCode = report.failures.length + report.sentTwice + report.left.length > 0 ? 1 : 0

/** Resident memory of the server after the last job, in MB; null without /proc. */
async function residentMb(service: Service | null): Promise<number | null> {
  const status = service === null ? '' : await readFile(`/proc/${service.pid}/status`, 'utf8').catch(() => '')
  const kb = /^VmRSS:\s+(\d+) kB$/m.exec(status)?.[1]
  return kb === undefined ? null : Math.round(Number(kb) / 1000)
}

function stopped(service: Service | null): Promise<unknown> {
  return service === null ? Promise.resolve() : service.stop()
}
