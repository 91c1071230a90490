// SPDX-License-Identifier: Apache-2.0
// 64 KiB behind AXI4: every handshake waits for a random time, reads of different IDs are answered in a random order with their beats mixed.
module axi_memory #(parameter BYTES = 8, parameter LANES = 3) (
    input                clk,
    input                rst_n,
    input  [3:0]         s_axi_awid,
    input  [15:0]        s_axi_awaddr,
    input  [7:0]         s_axi_awlen,
    input  [2:0]         s_axi_awsize,
    input  [1:0]         s_axi_awburst,
    input                s_axi_awvalid,
    output               s_axi_awready,
    input  [8*BYTES-1:0] s_axi_wdata,
    input  [BYTES-1:0]   s_axi_wstrb,
    input                s_axi_wlast,
    input                s_axi_wvalid,
    output               s_axi_wready,
    output [3:0]         s_axi_bid,
    output [1:0]         s_axi_bresp,
    output               s_axi_bvalid,
    input                s_axi_bready,
    input  [3:0]         s_axi_arid,
    input  [15:0]        s_axi_araddr,
    input  [7:0]         s_axi_arlen,
    input  [2:0]         s_axi_arsize,
    input  [1:0]         s_axi_arburst,
    input                s_axi_arvalid,
    output               s_axi_arready,
    output [3:0]         s_axi_rid,
    output [8*BYTES-1:0] s_axi_rdata,
    output [1:0]         s_axi_rresp,
    output               s_axi_rlast,
    output               s_axi_rvalid,
    input                s_axi_rready,
    output [15:0]        max_open_reads
);
    reg [7:0]  bytes [0:65535];
    reg [31:0] random;
    always @(posedge clk or negedge rst_n)
        if (!rst_n) random <= 32'h1234567;
        else if (works) random <= {random[30:0], random[31] ^ random[21] ^ random[1] ^ random[0]};
    wire works = s_axi_awvalid || s_axi_wvalid || s_axi_arvalid || has_write || bvalid || open_reads != 0;

    function [15:0] next_address(input [15:0] address, input [7:0] length, input [2:0] size, input [1:0] burst);
        reg [15:0] step, mask;
        begin
            step = 16'd1 << size;
            mask = (({8'd0, length} + 16'd1) << size) - 16'd1;
            case (burst)
                0: next_address = address;
                2: next_address = (address & ~mask) | ((address + step) & mask);
                default: next_address = (address & ~(step - 16'd1)) + step;
            endcase
        end
    endfunction

    // --- Writes, one at a time
    reg        has_write, bvalid;
    reg [3:0]  write_id;
    reg [15:0] write_address;
    reg [7:0]  write_length, write_left;
    reg [2:0]  write_size;
    reg [1:0]  write_burst;
    assign s_axi_awready = !has_write && !bvalid && random[2];
    assign s_axi_wready  = has_write && random[4];
    assign s_axi_bvalid  = bvalid;
    assign s_axi_bid     = write_id;
    assign s_axi_bresp   = 0;
    integer i;
    always @(posedge clk or negedge rst_n)
        if (!rst_n) {has_write, bvalid} <= 0;
        else begin
            if (s_axi_awvalid && s_axi_awready) begin
                has_write     <= 1;
                write_id      <= s_axi_awid;
                write_address <= s_axi_awaddr;
                write_length  <= s_axi_awlen;
                write_left    <= s_axi_awlen;
                write_size    <= s_axi_awsize;
                write_burst   <= s_axi_awburst;
            end
            if (s_axi_wvalid && s_axi_wready) begin
                for (i = 0; i < BYTES; i = i + 1)
                    if (s_axi_wstrb[i]) bytes[{write_address[15:LANES], i[LANES-1:0]}] <= s_axi_wdata[8*i +: 8];
                write_address <= next_address(write_address, write_length, write_size, write_burst);
                write_left    <= write_left - 8'd1;
                if (s_axi_wlast != (write_left == 0)) $error("WLAST is wrong");
                if (write_left == 0) begin
                    has_write <= 0;
                    bvalid    <= 1;
                end
            end
            if (s_axi_bvalid && s_axi_bready) bvalid <= 0;
        end

    // --- Reads: slots 0 to 7 in the order of their addresses
    reg [3:0]  id [0:7];
    reg [15:0] address [0:7];
    reg [7:0]  length [0:7], left [0:7];
    reg [2:0]  size [0:7];
    reg [1:0]  burst [0:7];
    reg [3:0]  open_reads;
    reg [15:0] most;
    reg        rvalid;
    reg [2:0]  shown;   // slot of the beat on the channel
    wire [2:0] wanted = random[10:8];
    reg        is_first;  // of its ID
    assign max_open_reads = most;
    assign s_axi_arready = open_reads != 8 && random[6] && !(rvalid && s_axi_rready);
    assign s_axi_rvalid  = rvalid;
    assign s_axi_rid     = id[shown];
    assign s_axi_rresp   = 0;
    assign s_axi_rlast   = left[shown] == 0;
    genvar lane;
    generate
        for (lane = 0; lane < BYTES; lane = lane + 1)
            assign s_axi_rdata[8*lane +: 8] = bytes[{address[shown][15:LANES], lane[LANES-1:0]}];
    endgenerate
    integer j;
    always @* begin
        is_first = {1'b0, wanted} < open_reads;
        for (j = 0; j < 8; j = j + 1)
            if (j < wanted && id[j] == id[wanted]) is_first = 0;
    end
    always @(posedge clk or negedge rst_n)
        if (!rst_n) begin
            open_reads <= 0;
            rvalid     <= 0;
            shown      <= 0;
            most       <= 0;
        end else begin
            if (!rvalid && is_first && random[12]) begin
                rvalid <= 1;
                shown  <= wanted;
            end
            if (rvalid && s_axi_rready) begin
                rvalid <= 0;
                left[shown]    <= left[shown] - 8'd1;
                address[shown] <= next_address(address[shown], length[shown], size[shown], burst[shown]);
                if (left[shown] == 0) begin
                    for (j = 0; j < 7; j = j + 1)
                        if (j >= shown) begin
                            id[j]      <= id[j+1];
                            address[j] <= address[j+1];
                            length[j]  <= length[j+1];
                            left[j]    <= left[j+1];
                            size[j]    <= size[j+1];
                            burst[j]   <= burst[j+1];
                        end
                    open_reads <= open_reads - 4'd1;
                end
            end else if (s_axi_arvalid && s_axi_arready) begin
                id[open_reads[2:0]]      <= s_axi_arid;
                address[open_reads[2:0]] <= s_axi_araddr;
                length[open_reads[2:0]]  <= s_axi_arlen;
                left[open_reads[2:0]]    <= s_axi_arlen;
                size[open_reads[2:0]]    <= s_axi_arsize;
                burst[open_reads[2:0]]   <= s_axi_arburst;
                open_reads <= open_reads + 4'd1;
                if ({12'd0, open_reads} + 16'd1 > most) most <= {12'd0, open_reads} + 16'd1;
            end
        end
endmodule
