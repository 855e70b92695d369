import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { onPath } from '#scripts/services/command.ts'
import { installDebianPackage } from '#scripts/services/debian.ts'

/** A browser that shows the addresses as tabs of one profile, until it is closed. */
interface OtherBrowser {
  close(): Promise<void>
}

/** Requests of the browser itself, such as for updates, go to a proxy that is none; those to this machine pass it by. */
const preferences = {
  'network.proxy.type': 1,
  'network.proxy.http': '127.0.0.1',
  'network.proxy.http_port': 9,
  'network.proxy.ssl': '127.0.0.1',
  'network.proxy.ssl_port': 9,
  'browser.shell.checkDefaultBrowser': false,
  'browser.aboutwelcome.enabled': false,
  'datareporting.policy.dataSubmissionEnabled': false,
  'toolkit.telemetry.enabled': false,
}

const processOf = (
  command: string,
  args: readonly string[],
  env: Readonly<Record<string, string>> = {},
): ChildProcess => spawn(command, args, { env: { ...process.env, ...env }, stdio: ['ignore', 'pipe', 'ignore'] })

/** Ends a process and its children, which a browser has many of. */
const ended = async (child: ChildProcess): Promise<void> => {
  if (child.exitCode !== null || child.signalCode !== null) return
  child.kill('SIGTERM')
  const hard = setTimeout(() => child.kill('SIGKILL'), 5000)
  await once(child, 'exit')
  clearTimeout(hard)
}

const firefox = async (urls: readonly string[]): Promise<OtherBrowser> => {
  const profile = mkdtempSync(join(tmpdir(), 'firefox-'))
  const lines = Object.entries(preferences).map(([name, value]) => `user_pref("${name}", ${JSON.stringify(value)});\n`)
  writeFileSync(join(profile, 'user.js'), lines.join(''))
  const args = ['--headless', '--no-remote', '--profile', profile, ...urls]
  const child = processOf('firefox-esr', args, { HOME: profile })
  return {
    close: async () => {
      await ended(child)
      rmSync(profile, { recursive: true, force: true, maxRetries: 5 })
    },
  }
}

/** The small browser that belongs to the library of WebKit, which needs a display. */
const miniBrowser = '/usr/lib/x86_64-linux-gnu/webkit2gtk-4.1/MiniBrowser'

const webkit = async (urls: readonly string[]): Promise<OtherBrowser> => {
  const home = mkdtempSync(join(tmpdir(), 'webkit-'))
  const display = processOf('Xvfb', ['-displayfd', '1', '-nolisten', 'tcp'])
  const [number] = await once(display.stdout ?? display, 'data')
  const env = { HOME: home, DISPLAY: `:${String(number).trim()}`, NO_AT_BRIDGE: '1', LIBGL_ALWAYS_SOFTWARE: '1' }
  const child = processOf(miniBrowser, urls, env)
  return {
    close: async () => {
      await ended(child)
      await ended(display)
      rmSync(home, { recursive: true, force: true, maxRetries: 5 })
    },
  }
}

const installed = (packages: readonly string[], isThere: () => boolean): boolean => {
  if (!isThere()) for (const name of packages) installDebianPackage(name, onPath('apt-get'))
  return isThere()
}

/** Browsers beside Chromium that this machine has, or whose Debian packages it may install. */
export const otherBrowsers = () => [
  ...(installed(['firefox-esr'], () => onPath('firefox-esr') !== null) ? [{ name: 'Firefox', open: firefox }] : []),
  ...(installed(['webkit2gtk-driver', 'xvfb'], () => existsSync(miniBrowser) && onPath('Xvfb') !== null)
    ? [{ name: 'WebKit', open: webkit }]
    : []),
]
