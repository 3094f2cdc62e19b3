-- A headless Neovim that attaches its own client to gllint, waits for diagnostics, and applies a code action.
-- It is told what to do by the environment and writes what it saw, as JSON, to a file.

local function fail(message)
  io.stderr:write(message .. "\n")
  vim.cmd("cquit 1")
end

local command = vim.fn.json_decode(vim.env.GLLINT_SERVER)
local root, file, title = vim.env.GLLINT_ROOT, vim.env.GLLINT_FILE, vim.env.GLLINT_ACTION

vim.o.swapfile = false
vim.cmd("edit " .. vim.fn.fnameescape(file))
local buffer = vim.api.nvim_get_current_buf()
vim.bo[buffer].filetype = "python"

local id = vim.lsp.start_client({ name = "gllint", cmd = command, root_dir = root })
if not id then
  fail("no client")
end
vim.lsp.buf_attach_client(buffer, id)

local function shown()
  local found = {}
  for _, item in ipairs(vim.diagnostic.get(buffer)) do
    table.insert(found, { code = item.code, line = item.lnum + 1, column = item.col + 1, message = item.message })
  end
  return found
end

local function wait(what, condition)
  if not vim.wait(30000, condition, 20) then
    fail("waited in vain for " .. what)
  end
end

wait("diagnostics", function()
  return #shown() > 0
end)
local before = shown()

local function apply(title)
  local first = vim.diagnostic.get(buffer)[1]
  local params = {
    textDocument = vim.lsp.util.make_text_document_params(buffer),
    range = {
      start = { line = first.lnum, character = first.col },
      ["end"] = { line = first.end_lnum, character = first.end_col },
    },
    context = { diagnostics = {} },
  }
  local answers = vim.lsp.buf_request_sync(buffer, "textDocument/codeAction", params, 30000)
  local titles, chosen = {}, nil
  for _, answer in pairs(answers or {}) do
    for _, action in ipairs(answer.result or {}) do
      table.insert(titles, action.title)
      if action.title == title then
        chosen = action
      end
    end
  end
  if not chosen then
    fail("no action '" .. title .. "' among: " .. table.concat(titles, ", "))
  end
  vim.lsp.util.apply_workspace_edit(chosen.edit, vim.lsp.get_client_by_id(id).offset_encoding)
end

if title then
  apply(title)
else
  dofile(vim.env.GLLINT_EXTRA)
  vim.cmd("write")
end

wait("the finding to go", function()
  return #shown() < #before
end)

local out = assert(io.open(vim.env.GLLINT_OUT, "w"))
out:write(vim.fn.json_encode({
  before = before,
  after = shown(),
  text = table.concat(vim.api.nvim_buf_get_lines(buffer, 0, -1, false), "\n"),
}))
out:close()
vim.lsp.stop_client(id)
vim.cmd("qall!")
