// gllint in VS Code: this starts the language server of the project's own gllint and says so where there is none.

import { spawn } from "node:child_process";
import type { ChildProcess } from "node:child_process";
import * as vscode from "vscode";
import { LanguageClient, RevealOutputChannelOn } from "vscode-languageclient/node";
import { Found, Missing, find, watchInterpreter } from "./finding";

const INSTALL = "pip install 'gllint[lsp]'";
const SCHEMES = ["file", "untitled", "vscode-notebook-cell"];
// Templates and prompts that Python reads.
const TEMPLATES = {
  scheme: "file",
  pattern: "**/*.{j2,jinja,jinja2,md,markdown,mdx,html,htm,txt,text,tmpl,tpl,template,prompt,yaml,yml,json}",
};
const SETTINGS = ["gllint.path", "gllint.interpreter", "python.defaultInterpreterPath"];

let log: vscode.LogOutputChannel;
let client: LanguageClient | undefined;
let work: Promise<void> = Promise.resolve();

export function activate(context: vscode.ExtensionContext): void {
  log = vscode.window.createOutputChannel("gllint", { log: true });
  context.subscriptions.push(
    log,
    vscode.commands.registerCommand("gllint.restart", restart),
    vscode.commands.registerCommand("gllint.showLog", () => log.show()),
    vscode.workspace.onDidChangeConfiguration((event) => {
      if (SETTINGS.some((setting) => event.affectsConfiguration(setting))) {
        void restart();
      }
    }),
  );
  void watchInterpreter(() => void restart()).then((watching) => watching && context.subscriptions.push(watching));
  void restart();
}

export function deactivate(): Promise<void> {
  return (work = work.then(stop));
}

function restart(): Promise<void> {
  return (work = work.then(stop).then(start).catch((error: unknown) => log.error(String(error))));
}

async function stop(): Promise<void> {
  const old = client;
  client = undefined;
  await old?.dispose().catch((error: unknown) => log.warn(String(error)));
}

async function start(): Promise<void> {
  let found: Found;
  try {
    found = await find(vscode.workspace.workspaceFolders?.[0]);
  } catch (error) {
    if (!(error instanceof Missing)) {
      throw error;
    }
    error.tried.forEach((line) => log.error(line));
    void complain(`gllint was not found (${error.message}). Install it with: ${INSTALL}`);
    return;
  }
  log.info(`gllint ${found.version}, from ${found.where}`);
  const said: string[] = [];
  const started = new LanguageClient(
    "gllint",
    "gllint",
    () => Promise.resolve(server(found, said)),
    {
      documentSelector: [...SCHEMES.map((scheme) => ({ scheme, language: "python" })), TEMPLATES],
      outputChannel: log,
      revealOutputChannelOn: RevealOutputChannelOn.Never,
      initializationFailedHandler: () => false,
    },
  );
  client = started;
  try {
    await started.start();
  } catch (error) {
    client = undefined;
    const last = said.join("").trim().split(/\r?\n/).at(-1) || String(error);
    void complain(`gllint, from ${found.where}, did not start: ${last}`);
  }
}

function server(found: Found, said: string[]): ChildProcess {
  const process = spawn(found.command, [...found.args, "server"], {
    cwd: vscode.workspace.workspaceFolders?.[0]?.uri.fsPath,
    windowsHide: true,
  });
  process.stderr.on("data", (data: Buffer) => said.push(data.toString()));
  return process;
}

async function complain(message: string): Promise<void> {
  log.error(message);
  const [copy, settings, show] = ["Copy the command", "Settings", "Log"];
  const answer = await vscode.window.showErrorMessage(message, copy, settings, show);
  if (answer === copy) {
    await vscode.env.clipboard.writeText(INSTALL);
  } else if (answer === settings) {
    await vscode.commands.executeCommand("workbench.action.openSettings", "gllint");
  } else if (answer === show) {
    log.show();
  }
}
