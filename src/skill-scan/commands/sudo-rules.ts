/** Programs that run any other one, or that write any file: who may run them as root may do everything. */
const open =
  /^(?:(?:ba|z|da|k|c|tc|fi|a)?sh|vi|vim|nvim|view|nano|pico|emacs|ed|ex|less|more|most|man|python[\d.]*|perl[\d.]*|ruby[\d.]*|node|nodejs|deno|bun|php[\d.]*|lua[\d.]*|tclsh|expect|env|find|fd|g?awk|mawk|sed|tar|zip|cp|mv|ln|tee|dd|install|chmod|chown|su|sudo|doas|docker|podman|nerdctl|kubectl|pip[\d.]*|npm|npx|gem|git|ssh|scp|rsync|mount|nsenter|chroot|unshare|visudo|sudoedit|passwd|useradd|usermod|adduser|crontab|xargs|make|gdb|strace|tcpdump|screen|tmux|nice|timeout|nohup|watch|busybox|setcap)$/iu
const loose = /^(?:\/tmp\/|\/var\/tmp\/|\/dev\/shm\/)|\/\.(?!\.?\/)|[*?[\]]/u

const unasked = /\bNOPASSWD\s{0,2}:\s{0,2}([^\n"'`|>;]{0,1000})/gu

/** Whether each right that a text gives without a password is one to run named programs, none of which opens all others. */
export const isBounded = (text: string): boolean => {
  const rights = [...text.matchAll(unasked)].map(([, commands = '']) => commands)
  return rights.length > 0 && rights.every((commands) => commands.split(',').every(isNamed))
}

const isNamed = (command: string): boolean => {
  const [path = ''] = command.trim().split(/\s/u, 1)
  return path.startsWith('/') && !loose.test(path) && !open.test(path.split('/').at(-1) ?? '')
}
