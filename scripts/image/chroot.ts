import { execFileSync, type SpawnSyncReturns, spawnSync } from 'node:child_process'
import { chmodSync, cpSync, existsSync, mkdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { onPath } from '../services/command.ts'
import { installDebianPackage } from '../services/debian.ts'
import { type Instruction, instructionsOf, variablesOf } from './dockerfile.ts'

const mounts = ['proc', 'sys', 'dev', 'dev/pts', 'dev/shm'] as const

/** Instructions that concern a running container, not its files. */
const ofContainers: ReadonlySet<string> = new Set(['VOLUME', 'EXPOSE', 'HEALTHCHECK', 'CMD'])

/** What the base image sets. */
const baseEnv = { PATH: '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin', HOME: '/root' }

/**
 * The file system of the image in a folder, built from the Dockerfile's own lines without Docker: Debian's `debootstrap`
 * and Node stand in for the base image, `chroot` for a container. It needs root, and shares the machine's network.
 */
export class ImageRoot {
  readonly #folder: string
  readonly #mounted: string[] = []
  #env: Record<string, string> = { ...baseEnv }
  #ofBuild: Readonly<Record<string, string>> = {}
  #workdir = '/'
  #user = 'root'

  constructor(folder: string) {
    this.#folder = folder
  }

  /** Carries out every line of the Dockerfile. @throws when one of them fails */
  build(dockerfile: string): void {
    for (const instruction of instructionsOf(dockerfile)) this.#carryOut(instruction)
  }

  /** The command of a program inside, as its image would run it: with its variables, folder and user. */
  command(program: readonly string[], env: Readonly<Record<string, string>> = {}): readonly string[] {
    const variables = Object.entries({ ...this.#env, ...env }).map(([name, value]) => `${name}=${value}`)
    const inside = ['env', '-i', ...variables, 'sh', '-c', 'cd "$0" && exec "$@"', this.#workdir, ...program]
    return ['chroot', `--userspec=${this.#user}:${this.#user}`, this.#folder, ...inside]
  }

  /** Runs a program inside to its end. */
  run(program: readonly string[], env: Readonly<Record<string, string>> = {}): SpawnSyncReturns<string> {
    const [file = '', ...args] = this.command(program, env)
    return spawnSync(file, args, { encoding: 'utf8', timeout: 900_000, maxBuffer: 64 * 1024 * 1024 })
  }

  close(): void {
    for (const path of this.#mounted.splice(0).reverse()) execFileSync('umount', ['-l', path])
  }

  #carryOut({ name, rest }: Instruction): void {
    const steps: Readonly<Record<string, () => void>> = {
      FROM: () => this.#begin(rest),
      ENV: () => {
        this.#env = { ...this.#env, ...variablesOf(rest) }
      },
      WORKDIR: () => {
        this.#workdir = rest
        mkdirSync(this.#inside(rest), { recursive: true })
      },
      USER: () => {
        this.#user = rest
        this.#env = { ...this.#env, HOME: `/home/${rest}` }
      },
      COPY: () => this.#copy(rest.split(/\s+/)),
      RUN: () => this.#obey(rest),
    }
    const step = steps[name]
    if (step !== undefined) step()
    else if (!ofContainers.has(name)) throw new Error(`The Dockerfile has ${name}, which this builder does not know.`)
  }

  /** Debian of the base image's release, with the Node of its tag. */
  #begin(image: string): void {
    const [, version = '', release = ''] = /^node:([\d.]+)-(\w+)-slim$/.exec(image) ?? []
    if (version !== process.versions.node)
      throw new Error(`The base image ${image} has another Node than this one, ${process.versions.node}.`)
    const sources = readFileSync('/etc/apt/sources.list.d/debian.sources', 'utf8')
    const [, mirror = ''] = /^URIs: (\S+)/m.exec(sources) ?? []
    // a temporary folder is only its owner's, and the root of the image is everybody's
    chmodSync(this.#folder, 0o755)
    if (onPath('debootstrap') === null && !installDebianPackage('debootstrap', onPath('apt-get')))
      throw new Error('There is no debootstrap, and only root can install it.')
    execFileSync('debootstrap', ['--variant=minbase', release, this.#folder, mirror], { stdio: 'ignore' })
    const own = ['/etc/apt/sources.list.d', '/etc/apt/apt.conf.d', '/etc/resolv.conf', '/etc/hosts', '/root/.npmrc']
    for (const path of own)
      if (existsSync(path)) cpSync(path, this.#inside(path), { recursive: true, dereference: true })
    writeFileSync(this.#inside('/etc/apt/sources.list'), '')
    cpSync(process.execPath, this.#inside('/usr/local/bin/node'))
    cpSync(npmFolder(), this.#inside('/usr/local/lib/npm'), { recursive: true, dereference: true })
    writeFileSync(this.#inside('/usr/local/bin/npm'), '#!/bin/sh\nexec node /usr/local/lib/npm/bin/npm-cli.js "$@"\n', {
      mode: 0o755,
    })
    this.#trust(process.env.NODE_EXTRA_CA_CERTS)
    for (const name of mounts) this.#mount(name)
    this.#obey(
      'useradd --create-home --uid 1000 node && apt-get update && apt-get install -y --no-install-recommends ca-certificates',
    )
  }

  /** Lets the commands of the build, and nothing after it, trust the authorities that this machine trusts. */
  #trust(authorities: string | undefined): void {
    if (authorities === undefined) return
    const path = '/tmp/authorities.crt'
    cpSync(authorities, this.#inside(path), { dereference: true })
    this.#ofBuild = { NODE_EXTRA_CA_CERTS: path, npm_config_cafile: path }
  }

  #mount(name: string): void {
    const path = join(this.#folder, name)
    mkdirSync(path, { recursive: true })
    execFileSync('mount', ['--bind', `/${name}`, path])
    this.#mounted.push(path)
  }

  #copy(paths: readonly string[]): void {
    const target = paths.at(-1) ?? ''
    const to = this.#inside(target.startsWith('/') ? target : join(this.#workdir, target))
    for (const source of paths.slice(0, -1)) {
      const isFolder = statSync(source).isDirectory()
      cpSync(source, isFolder || !target.endsWith('/') ? to : join(to, basename(source)), { recursive: true })
    }
  }

  #obey(command: string): void {
    const { status, stdout, stderr } = this.run(['sh', '-c', command], this.#ofBuild)
    if (status !== 0) throw new Error(`RUN ${command}\n${stdout.slice(-2000)}\n${stderr.slice(-4000)}`)
  }

  #inside(path: string): string {
    return join(this.#folder, path)
  }
}

/** The folder of the npm that runs this script. The Node that runs it may be another than npm's, and without an npm. */
const npmFolder = (): string => {
  const { npm_execpath: program } = process.env
  if (program === undefined) throw new Error('npm is copied into the image: run `npm run image`.')
  return dirname(dirname(program))
}
