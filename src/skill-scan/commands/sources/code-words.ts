/** What parts of programs in Python and JavaScript give, do and run, by their names. */
export const codeWords = {
  /** Reads from the network. */
  remote:
    /\b(?:requests|httpx|session|client|aiohttp|axios|got|superagent)\.(?:get|request)\(|\burlopen\(|\burlretrieve\(|\bfetch\(|\bhttps?\.get\(|\.recv\(|\bwget\.download\(|\bDownloadString\(/u,
  /** Turns a code into a text. */
  decoded:
    /\bb(?:64|32|85)decode\(|\bstandard_b64decode\(|\bbytes\.fromhex\(|\bunhexlify\(|\bzlib\.decompress\(|\bmarshal\.loads\(|\bcodecs\.decode\(|\batob\(|\bBuffer\.from\([^\n]{1,4096}['"](?:base64|hex)['"]|\bfromCharCode\(|\bchr\([^)]{1,80}\)[^\n]{0,40}\bfor\b|\bdecodeURIComponent\(escape|\[::-1\]|\.reverse\(\)\.join|\bunescape\(|\bgunzipSync\(|\bFernet\(|\brot13\b/u,
  /** All variables of the environment. */
  environment:
    /\bos\.environ\b(?!\s{0,2}(?:\[|\.get\(|\.setdefault\(|\.pop\(|\.update\())(?!\s{0,2}\|)|\bprocess\.env\b(?!\s{0,2}(?:\.|\[|\?\.))|\bDeno\.env\.toObject\(|\bBun\.env\b(?!\s{0,2}[.[])/u,
  /** One variable of the environment. */
  variable:
    /\bos\.environ(?:\.get\(|\[)\s{0,2}["'](\w{1,64})["']|\bgetenv\(\s{0,2}["'](\w{1,64})["']|\bprocess\.env(?:\.|\[["'])(\w{1,64})|\bDeno\.env\.get\(["'](\w{1,64})["']/gu,
  identity:
    /\bsocket\.gethostname\(|\bgetpass\.getuser\(|\bplatform\.node\(|\bos\.uname\(|\bos\.getlogin\(|\bos\.hostname\(|\bos\.userInfo\(|\buuid\.getnode\(|\bos\.networkInterfaces\(/u,
  /** What a person types, copies, sees, or has stored in a browser or a store of passwords. */
  watched:
    /\bpynput\b[^\n]{0,60}Listener\(|\bkeyboard\.(?:on_press|hook|record)\(|\bImageGrab\.grab\(|\bpyautogui\.screenshot\(|\bmss\(\)|\bpyperclip\.paste\(|\bclipboard\.readText\(|\bbrowser_cookie3\b|\bkeyring\.get_password\(|\bCryptUnprotectData\(|\bkeytar\.(?:getPassword|findCredentials)\(|\bdocument\.cookie\b|\blocalStorage\b(?!\.setItem)/u,
  /** All files of the user. */
  walked: /\b(?:os\.walk|rglob|glob(?:\.glob)?|readdirSync|scandir)\([^\n]{0,80}["']?~["']?(?:\s|,|\)|\/\*)/u,
  sends:
    /\b(?:requests|httpx|sess(?:ion)?|s|client|http|aiohttp|axios|got|superagent|ky)\.(?:post|put|patch|get|request|head)\(|\burlopen\(|\bRequest\(|\bHTTPS?Connection\(|\.request\(|\bfetch\(|\bsendBeacon\(|\.send(?:all|to)?\(|\bsendmail\(|\bsend_message\(|\bhttps?\.(?:request|get)\(|\bnew WebSocket\(|\bupload_file(?:obj)?\(|\bput_object\(|\bgethostbyname\(|\bgetaddrinfo\(|\bdns\.(?:resolve\w{0,5}|lookup)\(|\bresolver\.(?:query|resolve)\(|\bstor(?:binary|lines)\(|\bnet\.(?:connect|createConnection)\(|\bnew Image\(\)\.src|\.src\s{0,2}=/u,
  runs: /\.then\(\s{0,4}(?:eval|Function)\b|(?<![.\w])(?:exec|eval|compile|execfile)\(|\bnew Function\(|(?<![.\w])Function\(|\bvm\.run\w{0,20}\(|\brunpy\.\w{1,12}\(|\bpickle\.loads\(|\bimportlib\.util\.module_from|\bctypes\.(?:CFUNCTYPE|windll)|\bWebAssembly\.instantiate\(|\b_load_unlocked\(|\bexec_module\(|\bimport\(\s{0,2}(?:`|["'])?https?:/u,
  shells:
    /\bos\.(?:system|popen|exec[lv]\w{0,3}|spawn[lv]\w{0,3})\(|\bsubprocess\.\w{3,14}\(|(?<![.\w])(?:Popen|check_output|check_call)\(|\bpty\.spawn\(|\b(?:child_process|cp)\.\w{4,14}\(|(?<![.\w])(?:execSync|spawnSync|spawn|execFile(?:Sync)?|execa|exec|execPromise|execAsync)\(|\bDeno\.(?:Command|run)\(|\bBun\.spawn(?:Sync)?\(|(?<![\w$])\$`|\bcreate_subprocess_\w{4,6}\(/u,
  removes:
    /\b(?:shutil\.)?rmtree\(|\bfs(?:p|\.promises)?\.(?:rm|rmSync|rmdir|rmdirSync)\(|\brimraf(?:\.sync)?\(|\bremoveSync\(|\bDeno\.remove\(/u,
  writes:
    /\.write(?:_text|_bytes|lines)?\(|\b(?:write|append)File(?:Sync)?\(|\bcreateWriteStream\(|\bshutil\.(?:copy\w{0,4}|move)\(|\bDeno\.write\w{0,8}\(|\bcopyFile(?:Sync)?\(|\burlretrieve\(|\bBun\.write\(|\bjson\.dump\(/u,
  opens: /\bopen\(\s{0,4}([^,)]{1,400})\s{0,4},\s{0,4}(?:mode\s{0,2}=\s{0,2})?["'][rwxabt+]{0,3}[wax]/u,
} as const

/** Marks of a shell that is given to another machine, which stand in different statements. */
export const reverseShells: readonly (readonly RegExp[])[] = [
  [
    /\bsocket\.socket\(/u,
    /\bos\.dup2\(|\bpty\.spawn\(|stdin\s{0,2}=\s{0,2}s\b/u,
    /\/bin\/(?:ba|z|da)?sh|cmd\.exe|powershell|pty\.spawn/u,
  ],
  [
    /\bnet\.(?:Socket|connect|createConnection)\b/u,
    /\b(?:spawn|exec)\(\s{0,4}["'](?:\/bin\/(?:ba|z|da)?sh|cmd|bash|sh)/u,
    /\.pipe\(/u,
  ],
  [/\bsocket\.socket\(/u, /\.recv\(/u, /\b(?:subprocess|os\.(?:popen|system))\b/u],
]
