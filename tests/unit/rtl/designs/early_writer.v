// SPDX-License-Identifier: Apache-2.0
// An AXI manager that writes when it has read. EARLY: it asks for the write together with the read.
module early_writer (
    input         clk,
    input         rst_n,
    output reg    arvalid,
    input         arready,
    output [31:0] araddr,
    input         rvalid,
    input  [31:0] rdata,
    input  [1:0]  rresp,
    output        rready,
    output reg    awvalid,
    input         awready,
    output [31:0] awaddr,
    output reg    wvalid,
    input         wready,
    output [31:0] wdata,
    output [3:0]  wstrb,
    output        wlast,
    input         bvalid,
    input  [1:0]  bresp,
    output        bready,
    output        busy,
    output reg    has_read,
    output reg    has_written
);
    parameter EARLY = 1;
    reg asked, filled;
    assign araddr = 32'h10;
    assign awaddr = 32'h20;
    assign wdata  = 32'h12345678;
    assign wstrb  = 4'hf;
    assign {rready, bready, wlast} = 3'b111;
    assign busy = 1;
    always @(posedge clk or negedge rst_n)
        if (!rst_n) begin
            {arvalid, awvalid, wvalid, has_read, has_written, asked, filled} <= 0;
        end else begin
            asked <= 1;
            if (!asked) {arvalid, awvalid} <= {1'b1, EARLY[0]};
            if (arvalid && arready) arvalid <= 0;
            if (awvalid && awready) awvalid <= 0;
            if (rvalid) has_read <= 1;
            if (has_read && !filled) begin
                {wvalid, filled} <= 2'b11;
                if (!EARLY[0]) awvalid <= 1;
            end
            if (wvalid && wready) wvalid <= 0;
            if (bvalid) has_written <= 1;
        end
endmodule
