// Which gllint to start: the setting, the interpreter, the one chosen in the Python extension, or the PATH.

import { execFile } from "node:child_process";
import { homedir } from "node:os";
import * as path from "node:path";
import * as vscode from "vscode";

const PATIENCE = 20_000;
const PYTHON = "ms-python.python";

/** A program that answered: how to start it, where it was found and what it calls itself. */
export interface Found {
  command: string;
  args: string[];
  where: string;
  version: string;
}

/** Why there is no program: what was tried, and what each of them said. */
export class Missing extends Error {
  constructor(readonly tried: string[]) {
    super(tried.join("; "));
  }
}

interface Candidate {
  where: string;
  command: string;
  args: string[];
  isAsked: boolean; // named in the settings: nothing else is tried in its place
}

/** Returns the gllint to start. Throws `Missing` where there is none. */
export async function find(folder: vscode.WorkspaceFolder | undefined): Promise<Found> {
  const tried: string[] = [];
  for (const candidate of await candidates(folder)) {
    const answer = await ask(candidate);
    if (answer.version !== undefined) {
      return { ...candidate, version: answer.version };
    }
    tried.push(`${candidate.where}: ${answer.problem}`);
    if (candidate.isAsked) {
      break;
    }
  }
  throw new Missing(tried);
}

async function candidates(folder: vscode.WorkspaceFolder | undefined): Promise<Candidate[]> {
  const settings = vscode.workspace.getConfiguration("gllint", folder);
  const program = expanded(settings.get<string>("path", ""), folder);
  if (program) {
    return [{ where: `gllint.path, ${program}`, command: program, args: [], isAsked: true }];
  }
  const interpreter = expanded(settings.get<string>("interpreter", ""), folder);
  if (interpreter) {
    return [{ ...asModule(interpreter), where: `gllint.interpreter, ${interpreter}`, isAsked: true }];
  }
  const found: Candidate[] = [];
  const chosen = await chosenInterpreter(folder);
  if (chosen) {
    found.push({ ...asModule(chosen), where: `in the chosen interpreter, ${chosen}`, isAsked: false });
  }
  found.push({ where: "on the PATH", command: "gllint", args: [], isAsked: false });
  return found;
}

// -P: nothing of the folder that is open is imported in place of gllint.
function asModule(interpreter: string): { command: string; args: string[] } {
  return { command: interpreter, args: ["-P", "-m", "gllint"] };
}

function expanded(value: string, folder: vscode.WorkspaceFolder | undefined): string {
  const root = folder?.uri.fsPath ?? "";
  const text = value.trim().replaceAll("${workspaceFolder}", root).replace(/^~(?=$|[\\/])/, homedir());
  // A bare name is looked up on the PATH, any other relative path in the folder that is open.
  return text && root && /[\\/]/.test(text) ? path.resolve(root, text) : text;
}

function ask(candidate: Candidate): Promise<{ version?: string; problem?: string }> {
  return new Promise((resolve) => {
    const options = { timeout: PATIENCE, windowsHide: true };
    execFile(candidate.command, [...candidate.args, "--version"], options, (error, stdout, stderr) => {
      const version = /\d+\.\d+\S*/.exec(stdout)?.[0];
      if (error === null && version !== undefined) {
        resolve({ version });
      } else if (error !== null && error.code === "ENOENT") {
        resolve({ problem: "there is no such program" });
      } else if (error?.killed) {
        resolve({ problem: `no answer within ${PATIENCE / 1000} seconds` });
      } else {
        resolve({ problem: problem(stderr || error?.message || stdout) });
      }
    });
  });
}

function problem(said: string): string {
  if (/No module named ['"]?gllint/.test(said)) {
    return "gllint is not installed there";
  }
  if (/[Uu]nknown option:? -P/.test(said)) {
    return "this Python is older than 3.11";
  }
  return said.trim().split(/\r?\n/).at(-1) || "it says nothing";
}

// --- the Python extension ------------------------------------------------------------------------------------

interface Environments {
  getActiveEnvironmentPath(resource?: vscode.Uri): { path: string };
  resolveEnvironment(environment: { path: string }): Promise<{ executable: { uri?: vscode.Uri } } | undefined>;
  onDidChangeActiveEnvironmentPath: vscode.Event<unknown>;
}

async function environments(): Promise<Environments | undefined> {
  const extension = vscode.extensions.getExtension<{ environments?: Environments }>(PYTHON);
  try {
    return (extension?.isActive ? extension.exports : await extension?.activate())?.environments;
  } catch {
    return undefined; // it is broken, which its own messages say
  }
}

async function chosenInterpreter(folder: vscode.WorkspaceFolder | undefined): Promise<string | undefined> {
  const known = await environments();
  if (known !== undefined) {
    const resolved = await known.resolveEnvironment(known.getActiveEnvironmentPath(folder?.uri));
    return resolved?.executable.uri?.fsPath;
  }
  const written = vscode.workspace.getConfiguration("python", folder).get<string>("defaultInterpreterPath", "");
  return written && written !== "python" ? expanded(written, folder) : undefined;
}

/** Calls `changed` when another interpreter is chosen. */
export async function watchInterpreter(changed: () => void): Promise<vscode.Disposable | undefined> {
  return (await environments())?.onDidChangeActiveEnvironmentPath(changed);
}
