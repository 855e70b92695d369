import type { Severity } from '../finding.ts'
import { isBounded } from './sudo-rules.ts'
import { type Trait, textValue, traitOf, traitsOf, type Value } from './value.ts'
import type { World } from './world.ts'

const startFiles =
  /(?:^|\/)\.(?:bashrc|zshrc|profile|bash_profile|bash_login|zprofile|zshenv|zlogin|kshrc|xprofile|xinitrc|vimrc)$|fish\/(?:config\.fish|conf\.d\/)|^\/etc\/(?:profile|bash\.bashrc|environment|rc\.local|zsh\/)|Microsoft\.PowerShell_profile\.ps1$|^\$PROFILE$/iu
const scheduled = /^\/etc\/cron|^\/var\/spool\/cron|^\/etc\/anacrontab/iu
const services =
  /(?:systemd\/(?:system|user)\/|^\/etc\/init\.d\/|Library\/Launch(?:Agents|Daemons)\/|\.config\/autostart\/|Start Menu\\Programs\\Startup|Startup\/)/iu
const hooks = /(?:^|\/)(?:\.git\/hooks\/|\.husky\/|\.git-templates\/|git-core\/templates\/hooks\/)/iu
const agents =
  /(?:^~\/|^\$HOME\/)(?:\.claude\/(?:settings(?:\.local)?\.json|CLAUDE\.md|commands\/|agents\/|skills\/|hooks\/|plugins\/)|\.claude\.json$|\.cursor\/(?:mcp\.json|rules\/)|\.codex\/|\.gemini\/|\.config\/(?:Code\/User|opencode|goose|zed|mcp)\/|\.vscode\/|\.codeium\/|\.continue\/|\.aider\S{0,20}|\.openclaw\/)|claude_desktop_config\.json|\.config\/Code\/User\/(?:settings|tasks|mcp)\.json/iu
const ownAgents =
  /(?:^|\/)(?:\.mcp\.json|\.cursorrules|CLAUDE\.md|AGENTS\.md|GEMINI\.md|copilot-instructions\.md|\.claude\/settings(?:\.local)?\.json|\.cursor\/mcp\.json|\.vscode\/(?:settings|tasks|mcp)\.json)$/iu
const accounts =
  /^\/etc\/(?:sudoers(?:\.d\/|$)|passwd$|shadow$|group$|pam\.d\/|ld\.so\.preload|security\/|ssh\/sshd_config|hosts$)|^\/(?:private\/)?etc\/sudoers/iu

/** What a command that starts by itself has no reason to do. */
const suspicious =
  /\b(?:curl|wget|iwr|irm|invoke-\w{3,20})\s[^\n]{0,300}(?:\|\s{0,4}(?!grep|jq|logger|tee)|\$\(|`|\s-[a-zA-Z]{0,6}[oOdFT]\s|--(?:output|data|post|form|upload)\b|;\s{0,4}(?:ba)?sh\b)|\b(?:nc|ncat|socat|telnet)\s|\/dev\/(?:tcp|udp)\/|\bbase64\b|\b(?:python\d?|node|perl|ruby|php)\s{1,4}-[ce]\b|\b(?:ba|z)?sh\s{1,4}-[ic]\b|\bnohup\b|\bsetsid\b|\bosascript\b|(?<![&>])&\s{0,4}(?:$|\n)|(?:\/tmp|\/dev\/shm|\/var\/tmp)\/|\b(?:eval|exec)\b[^\n]{0,40}\$\((?!(?:starship|zoxide|direnv|pyenv|rbenv|nodenv|mise|fnm|brew|\/opt\/homebrew|ssh-agent|dircolors|gh|thefuck|atuin|\S{1,60}(?:init|hook|env|shellenv))\b)/imu
const hiddenProgram =
  /(?:~|\$HOME|\$\{HOME\}|\/home\/[\w.-]{1,40}|\/root|\/usr\/share|\/opt|%h)\/(?:[\w-]{1,40}\/){0,4}\.(?!local\/bin|cargo|nvm|pyenv|rbenv|bun|deno|volta|fzf|sdkman|krew|asdf|nix-profile|oh-my-zsh|venv|bash|zsh|profile|iterm2|dotnet|pulumi|poetry|rvm|ghcup|config\/(?:fish|starship|zsh|nvim)|mise|antigen|zinit|p10k|vim|tmux|git|docker|kube|rustup|npm-global|yarn|pnpm|foundry|modular|pixi|opencode|fly|platformio|aliases|env\b|gem\/|composer\/)[\w-]{2,40}/iu
const takesOver =
  /\b(?:alias|function)\s{1,4}["']?(?:sudo|su|ssh|scp|git|curl|wget|npm|pip\d?|docker|kubectl|aws|gpg|ls|cd|cat|claude|python\d?)["']?\s{0,4}(?:=|\(|\{)["']?(?!(?:ls|git|sudo|docker|kubectl|python3?|pip3?|cat|eza|exa|bat|colordiff|cd)\b)|\b(?:sudo|ssh|git|curl|npm|docker|claude)\s{0,3}\(\)|LD_PRELOAD|PROMPT_COMMAND\s{0,2}=|\btrap\s[^\n]{1,200}\bDEBUG\b|\bNODE_TLS_REJECT_UNAUTHORIZED\b|\bhttps?_proxy\s{0,2}=\s{0,2}["']?https?:\/\/(?!127\.|localhost|10\.|192\.168\.)|\b(?:ANTHROPIC|OPENAI)_(?:BASE_URL|API_BASE)\s{0,2}=\s{0,2}["']?https?:\/\/(?![\w.-]{0,60}(?:anthropic|openai|azure)\.com|localhost|127\.)/iu
const grants =
  /bypassPermissions|dangerously|"allow"\s{0,4}:\s{0,4}\[[^\]]{0,400}"(?:\*|Bash(?:\(\*+(?::\*)?\))?)"|autoApprove|alwaysAllow|"hooks"\s{0,4}:|chat\.tools\.(?:global\.)?autoApprove|approval_policy\s{0,2}=\s{0,2}"?never|trust_level|enableAllProjectMcpServers|skipConfirm|always\b|\bnever ask\b|ignore\b/iu

/** What a program of Windows that starts by itself does to stay unseen. */
export const hidesItself =
  /-(?:e|en|enc|encodedcommand)\s|\bhidden\b|-nop\b|\\(?:Temp|AppData|Public|ProgramData)\\|%(?:temp|appdata|localappdata|public|programdata)%|\$env:(?:temp|appdata|localappdata|public|programdata)|\b(?:mshta|rundll32|regsvr32|wscript|cscript)\b|\biex\b|downloadstring|\bru\s{1,4}"?system\b/iu

/** Whether a text, run without its user, does what such a text should not. */
export const isSuspiciousStart = (text: string): boolean =>
  suspicious.test(text) || hiddenProgram.test(text) || takesOver.test(text)

interface Written {
  readonly path: string
  readonly content: Value
  /** Whether a shell writes there what it prints, and is given what to run. */
  readonly runsShell?: boolean
}

/** What writing a file, and reading one, means. */
export const writesTo = {
  /** Records that a file is written, and reports when that lets something run again or lets somebody in. */
  file(world: World, { path, content, runsShell = false }: Written): void {
    if (/^\/dev\/(?:tcp|udp)\//u.test(path)) toNetwork(world, content, runsShell)
    world.write(path, content)
    const place = placeOf(path)
    if (place !== undefined) judged(world, place, { path, content })
  },

  /** Returns the content of a file that is read. */
  read(world: World, path: string, traits: readonly Trait[] = []): Value {
    return textValue('', traitsOf([world.named(path), { text: '', traits }]))
  },

  /** Reports a variable that makes other programs load code. */
  variable(world: World, text: string): void {
    if (!/^(?:LD_PRELOAD|PROMPT_COMMAND)=/u.test(text) || !/(?:\/tmp|\/dev\/shm|~?\/\.|curl|wget)/u.test(text)) return
    world.report({
      code: 'persistence',
      message: 'A variable makes each program that starts load code from elsewhere.',
    })
  },
}

const toNetwork = (world: World, content: Value, runsShell: boolean): void => {
  if (runsShell) world.report({ code: 'reverse_shell', message: 'The command opens a shell to another machine.' })
  else if (traitOf(content, 'secret', 'identity', 'workspace') !== undefined)
    world.report({ code: 'exfiltration', message: 'Data of the user is sent to somewhere else.' })
}

type Place = 'accounts' | 'keys' | 'start' | 'scheduled' | 'service' | 'hook' | 'agents' | 'own_agents'

const placeOf = (path: string): Place | undefined => {
  if (/\.ssh\/authorized_keys/iu.test(path)) return 'keys'
  if (accounts.test(path)) return 'accounts'
  if (startFiles.test(path)) return 'start'
  if (scheduled.test(path)) return 'scheduled'
  if (services.test(path)) return 'service'
  if (hooks.test(path)) return 'hook'
  if (agents.test(path)) return 'agents'
  return ownAgents.test(path) ? 'own_agents' : undefined
}

const judged = (world: World, place: Place, written: Written): void => {
  const { path, content } = written
  const isForeign = traitOf(content, 'remote', 'unpacked', 'decoded') !== undefined
  const isBad = isForeign || isSuspiciousStart(content.text)
  if (place === 'keys') {
    const severity = isForeign || content.text.trim() !== '' ? 'blocker' : 'warning'
    world.report({ code: 'persistence', severity, message: 'A key is added that lets somebody in.' })
  } else if (place === 'accounts') accountsJudged(world, path, content)
  else if (place === 'agents' || place === 'own_agents') {
    const isOpen = isBad || grants.test(content.text)
    const severity = place === 'agents' || isOpen ? 'blocker' : 'warning'
    const message = `The settings or instructions of agents in ${path} are changed.`
    world.report({ code: 'changes_agent', severity, message })
  } else if (place !== 'start' || isBad) {
    const message = `${path} starts a command by itself${isBad ? ' that loads, hides or replaces something' : ''}.`
    world.report({ code: 'persistence', severity: isBad ? 'blocker' : 'warning', message })
  }
}

const accountsJudged = (world: World, path: string, { text, traits }: Value): void => {
  const isKnown = traitOf({ text, traits }, 'remote', 'unpacked', 'decoded') === undefined
  if (isKnown && /sudoers/iu.test(path) && (text.trim() === '' || isBounded(text))) {
    granted(world, path, 'warning')
    return
  }
  if (isKnown && /sshd_config/iu.test(path) && !opensLogin.test(withoutSought(text))) {
    granted(world, path, 'info')
    return
  }
  const isName = path.endsWith('hosts')
  const isLocal = /127\.0\.0\.1|localhost|::1|^\s{0,8}(?:10|192\.168|172)\./u.test(text)
  const severity = isName && isKnown && (isLocal || !wellKnown.test(text)) ? 'warning' : 'blocker'
  granted(world, path, severity)
}

/** Hosts that many trust: who leads them elsewhere deceives. */
const wellKnown =
  /\b(?:github|githubusercontent|gitlab|bitbucket|google|googleapis|gstatic|microsoft|windows|office|live|apple|icloud|amazon|amazonaws|npmjs|pypi|pythonhosted|docker|debian|ubuntu|openai|anthropic|claude|stripe|paypal|slack|facebook|whatsapp|telegram|cloudflare|letsencrypt|rubygems|crates|golang|maven|virustotal|kaspersky|eset|avast|sophos|crowdstrike)\.[a-z]{2,6}\b|\bbank|sparkasse|update|antivirus/iu

const granted = (world: World, path: string, severity: Severity): void =>
  world.report({ code: 'weakens_security', severity, message: `${path} decides who may do what on the machine.` })

/** Settings by which a machine lets more people in. */
const opensLogin =
  /\bPermitRootLogin["'\s=]{1,6}yes|\bPermitEmptyPasswords["'\s=]{1,6}yes|\bPasswordAuthentication["'\s=]{1,6}yes|\bStrictModes["'\s=]{1,6}no|\bAuthorized(?:KeysFile|KeysCommand|PrincipalsFile)|\bForceCommand|\bGatewayPorts["'\s=]{1,6}yes|\bTrustedUserCAKeys|\bLogLevel["'\s=]{1,6}quiet|\bPubkeyAuthentication["'\s=]{1,6}no/iu

/** Returns the script of an editor without what it looks for. */
const withoutSought = (text: string): string => text.replaceAll(/(?<!\w)s([/|#,@])[^\n]{0,200}?\1/gu, ' ')
