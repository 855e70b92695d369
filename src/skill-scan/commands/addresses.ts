/** Installers that the documentation of a known tool names: exact hosts, with the beginning of the path. */
const installers: readonly (readonly [host: string, ...paths: readonly string[]])[] = [
  ['sh.rustup.rs', '/'],
  ['static.rust-lang.org', '/rustup/'],
  ['get.docker.com', '/'],
  ['download.docker.com', '/'],
  ['bun.sh', '/install'],
  ['bun.com', '/install'],
  ['deno.land', '/install.sh', '/install.ps1', '/x/install/install.sh'],
  ['astral.sh', '/uv/', '/ruff/'],
  ['install.python-poetry.org', '/'],
  ['bootstrap.pypa.io', '/get-pip.py', '/get-pipx.py'],
  ['pyenv.run', '/'],
  ['get.pnpm.io', '/install.sh', '/install.ps1'],
  ['get.volta.sh', '/'],
  ['fnm.vercel.app', '/install'],
  ['deb.nodesource.com', '/setup_'],
  ['rpm.nodesource.com', '/setup_'],
  ['nixos.org', '/nix/install'],
  ['install.determinate.systems', '/nix'],
  ['starship.rs', '/install.sh'],
  ['ollama.com', '/install.sh', '/install.ps1'],
  ['claude.ai', '/install.sh', '/install.ps1'],
  ['cursor.com', '/install'],
  ['opencode.ai', '/install'],
  ['fly.io', '/install.sh', '/install.ps1'],
  ['railway.com', '/install.sh'],
  ['cli.doppler.com', '/install.sh'],
  ['get.pulumi.com', '/'],
  ['get.opentofu.org', '/install-opentofu.sh'],
  ['get.jetify.com', '/devbox'],
  ['get.turso.tech', '/install.sh'],
  ['get.k3s.io', '/'],
  ['get.helm.sh', '/'],
  ['dl.k8s.io', '/release/'],
  ['tailscale.com', '/install.sh'],
  ['mise.run', '/'],
  ['mise.jdx.dev', '/install.sh'],
  ['just.systems', '/install.sh'],
  ['get.sdkman.io', '/'],
  ['get.rvm.io', '/'],
  ['sdk.cloud.google.com', '/'],
  ['awscli.amazonaws.com', '/'],
  ['dot.net', '/v1/dotnet-install.'],
  ['aka.ms', '/InstallAzureCLIDeb', '/install-powershell.'],
  ['apt.llvm.org', '/llvm.sh'],
  ['pixi.sh', '/install.sh', '/install.ps1'],
  ['micro.mamba.pm', '/install.sh'],
  ['repo.anaconda.com', '/miniconda/'],
  ['community.chocolatey.org', '/install.ps1'],
  ['get.scoop.sh', '/'],
  ['install.duckdb.org', '/'],
  ['releases.hashicorp.com', '/'],
  ['go.dev', '/dl/'],
  ['www.python.org', '/ftp/python/'],
  ['nodejs.org', '/dist/'],
  ['github.com', '/conda-forge/miniforge/releases/', '/mikefarah/yq/releases/', '/mozilla/sops/releases/'],
  [
    'raw.githubusercontent.com',
    '/nvm-sh/nvm/',
    '/Homebrew/install/',
    '/ohmyzsh/ohmyzsh/',
    '/helm/helm/',
    '/k3d-io/k3d/',
    '/pyenv/pyenv-installer/',
    '/kubernetes-sigs/kustomize/',
    '/golangci/golangci-lint/',
    '/anchore/syft/',
    '/anchore/grype/',
    '/aquasecurity/trivy/',
    '/terraform-linters/tflint/',
    '/rhysd/actionlint/',
    '/nektos/act/',
    '/trufflesecurity/trufflehog/',
  ],
]

/** Hosts where the repository of a project, not the machine of a stranger, answers; code there can be read first. */
const forges: ReadonlySet<string> = new Set([
  ...['github.com', 'www.github.com', 'gitlab.com', 'bitbucket.org', 'codeberg.org', 'git.sr.ht', 'huggingface.co'],
  ...['git.kernel.org', 'gitlab.freedesktop.org', 'gitlab.gnome.org', 'salsa.debian.org', 'codeload.github.com'],
  ...['objects.githubusercontent.com', 'api.github.com'],
])

/** Registries of packages and their mirrors by whom they belong to. */
const registries: ReadonlySet<string> = new Set([
  ...['pypi.org', 'files.pythonhosted.org', 'test.pypi.org', 'registry.npmjs.org', 'registry.yarnpkg.com', 'jsr.io'],
  ...['npm.jsr.io', 'npm.pkg.github.com', 'download.pytorch.org', 'pypi.nvidia.com', 'data.pyg.org', 'crates.io'],
  ...['rubygems.org', 'repo.maven.apache.org', 'proxy.golang.org', 'conda.anaconda.org', 'wheels.vllm.ai'],
  ...['abetlen.github.io', 'pypi.ngc.nvidia.com', 'storage.googleapis.com', 'pypi.tuna.tsinghua.edu.cn'],
  ...['mirrors.aliyun.com', 'registry.npmmirror.com'],
])

const address = /\b(?:https?|ftp|wss?):\/\/[^\s"'`<>|;)\\]{1,2048}/iu

/** Returns the first address in a text. */
export const addressIn = (text: string): string | undefined => address.exec(text)?.[0]

/** Returns the host of an address, in lower case; of a name without a scheme too. Undefined if it has none. */
export const hostOf = (text: string): string | undefined => {
  const whole = /^[a-z][a-z0-9+.-]{1,20}:\/\//iu.test(text) ? text : `https://${text}`
  try {
    const { hostname } = new URL(whole)
    return hostname === '' ? undefined : hostname.toLowerCase()
  } catch {
    return undefined
  }
}

/** Whether an address is that of an installer of a known tool: an exact host, and a path below a known one. */
export const isInstaller = (text: string): boolean => {
  let url: URL
  try {
    url = new URL(text.includes('://') ? text : `https://${text}`)
  } catch {
    return false
  }
  const lowPath = url.pathname.toLowerCase()
  const isPlain = url.protocol === 'https:' && url.username === '' && url.port === ''
  return (
    isPlain &&
    installers.some(
      ([host, ...paths]) => host === url.hostname && paths.some((path) => lowPath.startsWith(path.toLowerCase())),
    )
  )
}

/** Whether an address is that of a repository of a known forge. */
export const isForge = (text: string): boolean => {
  const host = hostOf(text.replace(/^git\+/u, '').replace(/^(?:ssh:\/\/)?git@([\w.-]{1,100}):/u, 'https://$1/'))
  return host !== undefined && forges.has(host)
}

/** Whether an address is that of a known registry of packages. */
export const isRegistry = (text: string): boolean => {
  const host = hostOf(text)
  return host !== undefined && registries.has(host)
}

const near =
  /^(?:localhost|127(?:\.\d{1,3}){3}|0\.0\.0\.0|\[?::1\]?|10(?:\.\d{1,3}){3}|192\.168(?:\.\d{1,3}){2}|172\.(?:1[6-9]|2\d|3[01])(?:\.\d{1,3}){2}|host\.docker\.internal|[\w-]{1,63}|[\w.-]{1,200}\.(?:local|localhost|internal|test))$/iu

/**
 * Whether a text stands where an address belongs, but names no machine of the network: an ellipsis, a word. Variables and
 * numbers are none.
 */
export const isPlaceholder = (text: string): boolean => {
  const rest = text
    .trim()
    .replace(/^["']|["']$/gu, '')
    .replace(/^[a-z][a-z0-9+.-]{1,20}:\/\//iu, '')
  const host = /^[^/?#]{0,300}/u.exec(rest)?.[0].replace(/^[^@]{0,200}@/u, '') ?? ''
  if (/[$`\\%]/u.test(host)) return false
  if (host.includes('...') || /^(?:\{\{|<|_[^.]{1,80}_$)/u.test(host)) return true
  return !/[.:]\w/u.test(host) && !/^(?:0x[\da-f]+|\d+)$/iu.test(host) && host !== ''
}

/** Whether an address stays on this machine or in its network. */
export const isNear = (text: string): boolean => {
  const host = hostOf(text)
  return host !== undefined && near.test(host)
}

/** Whether a host is one that the reader of a page has or puts in: a variable, a word, an example, one of the own network. */
export const isOwnHost = (host: string): boolean =>
  host.startsWith('$') || isPlaceholder(host) || isNear(host) || /(?:^|\.)example\.(?:com|net|org)$/iu.test(host)

const target = /(?:^|[\s"'])(?:[\w.$<>-]{1,64}@)?([\w-]{1,63}(?:\.[\w-]{1,63}){1,6}):/gu

/** Whether a line copies something to a machine that it names, and that is no example. */
export const copiesElsewhere = (line: string): boolean =>
  [...line.matchAll(target)].some(([, host = '']) => !isOwnHost(host))
